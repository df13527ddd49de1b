package parser_test

import (
	"fmt"

	"relay-pty/parser"
)

// What an agent said is read for messages to others; what it only quotes means nothing.
func ExampleText() {
	said := "I have a question.\n\n->relay:bob [re=m1] <<<Which of the two\nparsers is meant?>>>\n\n" +
		"```\n->relay:carol this is in a code block\n```\n"
	for _, item := range parser.Text(said) {
		if c, ok := item.(parser.Command); ok {
			fmt.Printf("to %s, answering %s: %q\n", c.To, c.ReplyTo, c.Body)
		}
	}
	// Output: to bob, answering m1: "Which of the two\nparsers is meant?"
}

// An envelope is a message as an agent reads it.
func ExampleEnvelope() {
	e := parser.Envelope{ID: "m1", From: "bob", Body: "please review parser.go"}
	fmt.Println(e.Header() + " " + e.Content() + "\n" + e.Footer())
	// Output:
	// [relay m1 from bob] please review parser.go
	// [end m1 · reply: ->relay:bob [re=m1] <<<…>>>]
}
