package parser

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"relay-pty/protocol"
)

// to is a command without attributes.
func to(target, body, raw string) Item { return Command{To: target, Body: body, Raw: raw} }

func bad(reason, raw string) Item { return Invalid{Reason: reason, Raw: raw} }

const fenceOpen = "the fence is not closed"

var grammar = []struct {
	name, in string
	want     []Item
}{
	{"one line", "->relay:bob hello", []Item{to("bob", "hello", "->relay:bob hello")}},
	{"a newline at the end", "->relay:bob hello\n", []Item{to("bob", "hello", "->relay:bob hello")}},
	{"among prose", "Hi.\n\n->relay:bob hello there\nBye.", []Item{to("bob", "hello there", "->relay:bob hello there")}},
	{"blanks around a one-line message", "->relay:bob  \t hello  \t", []Item{to("bob", "hello", "->relay:bob  \t hello")}},
	{"blanks inside stay", "->relay:bob a  b\tc", []Item{to("bob", "a  b\tc", "->relay:bob a  b\tc")}},
	{"CRLF ends a one-line message", "->relay:bob hi\r\nx", []Item{to("bob", "hi", "->relay:bob hi")}},
	{"a tab after the target", "->relay:bob\thi", []Item{to("bob", "hi", "->relay:bob\thi")}},
	{"every kind of letter", "->relay:bob 日本語 👩‍👩‍👧 \u202eRTL\u202c", []Item{to("bob", "日本語 👩‍👩‍👧 \u202eRTL\u202c", "->relay:bob 日本語 👩‍👩‍👧 \u202eRTL\u202c")}},

	{"fence on one line", "->relay:Bob <<<Hello Bob!>>>", []Item{to("Bob", "Hello Bob!", "->relay:Bob <<<Hello Bob!>>>")}},
	{"blanks in a fence stay", "->relay:Bob <<<  a  >>>", []Item{to("Bob", "  a  ", "->relay:Bob <<<  a  >>>")}},
	{"fence on many lines", "->relay:bob <<<a\n b\n\nc>>>", []Item{to("bob", "a\n b\n\nc", "->relay:bob <<<a\n b\n\nc>>>")}},
	{"a newline at each end is trimmed", "->relay:bob <<<\na\n>>>", []Item{to("bob", "a", "->relay:bob <<<\na\n>>>")}},
	{"and only one", "->relay:bob <<<\n\na\n\n>>>", []Item{to("bob", "\na\n", "->relay:bob <<<\n\na\n\n>>>")}},
	{"CRLF is one newline at the ends and stays between", "->relay:bob <<<\r\na\r\nb\r\n>>>\r\n", []Item{to("bob", "a\r\nb", "->relay:bob <<<\r\na\r\nb\r\n>>>")}},
	{"blanks after the opening fence are body", "->relay:bob <<< \na>>>", []Item{to("bob", " \na", "->relay:bob <<< \na>>>")}},
	{"text after the closing fence", "->relay:bob <<<a>>> ->relay:carol b", []Item{to("bob", "a", "->relay:bob <<<a>>>")}},
	{"text after the closing fence of many lines", "->relay:bob <<<a\nb>>> and more\n->relay:carol c", []Item{
		to("bob", "a\nb", "->relay:bob <<<a\nb>>>"), to("carol", "c", "->relay:carol c")}},
	{"a longer fence holds shorter ones", "->relay:bob <<<<\n>>> x\n<<<y>>>\n>>>>", []Item{to("bob", ">>> x\n<<<y>>>", "->relay:bob <<<<\n>>> x\n<<<y>>>\n>>>>")}},
	{"and longer ones", "->relay:bob <<<\n>>>>>>> branch\n>>>", []Item{to("bob", ">>>>>>> branch", "->relay:bob <<<\n>>>>>>> branch\n>>>")}},
	{"arrows are no fence", "->relay:bob <<<a->b >> c>>>", []Item{to("bob", "a->b >> c", "->relay:bob <<<a->b >> c>>>")}},
	{"two is no fence", "->relay:bob <<x>>", []Item{to("bob", "<<x>>", "->relay:bob <<x>>")}},
	{"a fence later in the line is text", "->relay:bob see <<<x>>>", []Item{to("bob", "see <<<x>>>", "->relay:bob see <<<x>>>")}},
	{"a marker in a body is body", "->relay:bob <<<\n->relay:eve x\n->pty:ready\n>>>", []Item{
		to("bob", "->relay:eve x\n->pty:ready", "->relay:bob <<<\n->relay:eve x\n->pty:ready\n>>>")}},
	{"a code fence in a body is body", "->relay:bob <<<\n```\nx\n>>>\n->relay:bob y", []Item{
		to("bob", "```\nx", "->relay:bob <<<\n```\nx\n>>>"), to("bob", "y", "->relay:bob y")}},
	{"several in one message", "->relay:a 1\n->relay:b <<<2\n2>>>\ntext\n->relay:a 1", []Item{
		to("a", "1", "->relay:a 1"), to("b", "2\n2", "->relay:b <<<2\n2>>>"), to("a", "1", "->relay:a 1")}},

	{"all attributes", "->relay:bob [re=msg-123 thread=auth mode=important] hi", []Item{
		Command{To: "bob", Body: "hi", ReplyTo: "msg-123", Thread: "auth", Mode: "important", Raw: "->relay:bob [re=msg-123 thread=auth mode=important] hi"}}},
	{"blanks in the bracket", "->relay:bob  [ \tre = m1   mode= urgent ]<<<hi>>>", []Item{
		Command{To: "bob", Body: "hi", ReplyTo: "m1", Mode: "urgent", Raw: "->relay:bob  [ \tre = m1   mode= urgent ]<<<hi>>>"}}},
	{"an empty bracket", "->relay:bob [] hi", []Item{to("bob", "hi", "->relay:bob [] hi")}},
	{"a bracket before many lines", "->relay:bob [mode=sequential] <<<\na\n>>>", []Item{
		Command{To: "bob", Body: "a", Mode: "sequential", Raw: "->relay:bob [mode=sequential] <<<\na\n>>>"}}},
	{"an unknown key", "->relay:bob [urgent=1] hi", []Item{bad(`unknown key "urgent"`, "->relay:bob [urgent=1] hi")}},
	{"no key", "->relay:bob [x] hi", []Item{bad(`bracket holds "x", not key=value`, "->relay:bob [x] hi")}},
	{"a bad id", "->relay:bob [re=a/b] hi", []Item{bad(`bad value of re: "a/b"`, "->relay:bob [re=a/b] hi")}},
	{"an empty id", "->relay:bob [re=] hi", []Item{bad(`bad value of re: ""`, "->relay:bob [re=] hi")}},
	{"an id of 128", "->relay:bob [re=" + strings.Repeat("a", 128) + "] hi", []Item{
		Command{To: "bob", Body: "hi", ReplyTo: strings.Repeat("a", 128), Raw: "->relay:bob [re=" + strings.Repeat("a", 128) + "] hi"}}},
	{"an id of 129", "->relay:bob [re=" + strings.Repeat("a", 129) + "] hi", []Item{
		bad(`bad value of re: "`+strings.Repeat("a", 129)+`"`, "->relay:bob [re="+strings.Repeat("a", 129)+"] hi")}},
	{"a bad mode", "->relay:bob [mode=now] hi", []Item{bad(`bad value of mode: "now"`, "->relay:bob [mode=now] hi")}},
	{"a key twice", "->relay:bob [re=a re=b] hi", []Item{bad("re stands twice", "->relay:bob [re=a re=b] hi")}},
	{"an open bracket", "->relay:bob [re=a hi", []Item{bad("bracket is not closed", "->relay:bob [re=a hi")}},

	{"a host", "->relay:bob@box-2 hi", []Item{to("bob@box-2", "hi", "->relay:bob@box-2 hi")}},
	{"a channel", "->relay:#dev hi", []Item{to("#dev", "hi", "->relay:#dev hi")}},
	{"everybody", "->relay:* hi", []Item{to("*", "hi", "->relay:* hi")}},
	{"a name of 64", "->relay:" + strings.Repeat("a", 64) + " hi", []Item{to(strings.Repeat("a", 64), "hi", "->relay:"+strings.Repeat("a", 64)+" hi")}},
	{"a name of 65", "->relay:" + strings.Repeat("a", 65) + " hi", []Item{bad("bad target", "->relay:"+strings.Repeat("a", 65)+" hi")}},
	{"a name with every byte", "->relay:0a_.-Z hi", []Item{to("0a_.-Z", "hi", "->relay:0a_.-Z hi")}},
	{"a name that starts with a dot", "->relay:.bob hi", []Item{bad("bad target", "->relay:.bob hi")}},
	{"a comma behind the name", "->relay:bob, hi", []Item{bad("bad target", "->relay:bob, hi")}},
	{"the longest host", "->relay:bob@" + strings.Repeat("h", 253) + " hi", []Item{to("bob@"+strings.Repeat("h", 253), "hi", "->relay:bob@"+strings.Repeat("h", 253)+" hi")}},
	{"a host too long", "->relay:bob@" + strings.Repeat("h", 254) + " hi", []Item{bad("bad target", "->relay:bob@"+strings.Repeat("h", 200-len("->relay:bob@")))}},
	{"two hosts", "->relay:a@b@c hi", []Item{bad("bad target", "->relay:a@b@c hi")}},
	{"no host", "->relay:a@ hi", []Item{bad("bad target", "->relay:a@ hi")}},
	{"no channel", "->relay:# hi", []Item{bad("bad target", "->relay:# hi")}},
	{"no target", "->relay: hi", []Item{bad("bad target", "->relay: hi")}},
	{"a fence without a blank", "->relay:bob<<<hi>>>", []Item{bad("bad target", "->relay:bob<<<hi>>>")}},
	{"a bad target's fence is text", "->relay:b/c <<<\nx\n->relay:bob y", []Item{bad("bad target", "->relay:b/c <<<"), to("bob", "y", "->relay:bob y")}},

	{"nothing to say", "->relay:bob", []Item{bad("empty message", "->relay:bob")}},
	{"only blanks to say", "->relay:bob   ", []Item{bad("empty message", "->relay:bob")}},
	{"an empty fence", "->relay:bob <<<>>>", []Item{bad("empty message", "->relay:bob <<<>>>")}},
	{"a blank fence", "->relay:bob <<<\n \n\n>>>", []Item{bad("empty message", "->relay:bob <<<")}},
	{"an unfinished fence", "->relay:bob <<<a\n->relay:carol b", []Item{bad(fenceOpen, "->relay:bob <<<a")}},
	{"a fence closed by a shorter one", "->relay:bob <<<<a>>>", []Item{bad(fenceOpen, "->relay:bob <<<<a>>>")}},
	{"a body that is not UTF-8", "->relay:bob a\xff", []Item{bad("body is not UTF-8", "->relay:bob a")}},

	{"three blanks before", "   ->relay:bob hi", []Item{to("bob", "hi", "->relay:bob hi")}},
	{"four blanks before", "    ->relay:bob hi", nil},
	{"a tab before", "\t->relay:bob hi", nil},
	{"the agent's own glyph", "● ->relay:bob 1\n  ⏺  ->relay:bob 2\n• ->relay:bob 3\n✦ ->relay:bob 4", []Item{
		to("bob", "1", "->relay:bob 1"), to("bob", "2", "->relay:bob 2"), to("bob", "3", "->relay:bob 3"), to("bob", "4", "->relay:bob 4")}},
	{"a glyph without a blank", "●->relay:bob hi", nil},
	{"two glyphs", "● ● ->relay:bob hi", nil},
	{"a list's bullet", "- ->relay:bob hi\n* ->relay:bob hi\n1. ->relay:bob hi\n+ ->relay:bob hi", nil},
	{"escaped", `\->relay:bob hi` + "\n" + `\->pty:ready`, nil},
	{"in the middle of a line", "say ->relay:bob hi", nil},
	{"inline code", "`->relay:bob hi`", nil},
	{"other arrows", "-> relay:bob hi\n->relayed:bob hi\n->relay\n->Relay:bob hi\n--->relay:bob hi", nil},
	{"quoted", "> ->relay:bob hi\n>->relay:bob hi\n  > ->relay:bob hi", nil},
	{"a quote of many lines", "> ->relay:bob <<<\n> x\n> >>>", nil},
	{"a diff", "@@ -1 +1 @@\n+->relay:bob hi\n-->relay:bob hi\n ->relay:bob ctx", []Item{to("bob", "ctx", "->relay:bob ctx")}},

	{"ready", "->pty:ready", []Item{Ready{}}},
	{"ready among lines, with blanks", "x\n  ->pty:ready \t\r\ny", []Item{Ready{}}},
	{"ready behind a glyph", "● ->pty:ready", []Item{Ready{}}},
	{"ready and more", "->pty:ready now\n->pty:readyx\n->pty:busy", nil},

	{"a code fence", "```\n->relay:bob x\n```\n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"tildes, info string, indented", "  ~~~ sh `x`\n->relay:bob x\n   ~~~~  \n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"a fence is closed by its like only", "````md\n```\n->relay:bob x\n```\n~~~~\n````x\n->pty:ready\n````\n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"an unclosed code fence reaches to the end", "```\n->relay:bob x\n->relay:bob <<<\n>>>", nil},
	{"a closing fence indented by four is none", "```\n    ```\n->relay:bob x", nil},
	{"an opening fence indented by four is none", "    ```\n->relay:bob x", []Item{to("bob", "x", "->relay:bob x")}},
	{"a backtick in the info string: inline code", "``` a`b\n->relay:bob x", []Item{to("bob", "x", "->relay:bob x")}},
	{"two backticks are none", "``\n->relay:bob x", []Item{to("bob", "x", "->relay:bob x")}},
	{"a fence in a list", "1. ```sh\n   ->relay:bob x\n   ```\n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"a fence in a nested list", "- 2) ~~~\n     ->relay:bob x\n  ->relay:bob z", []Item{to("bob", "z", "->relay:bob z")}},
	{"a fence ends with its list", "* ```\n  ->relay:bob x\n\n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"a fence behind a glyph", "● ```\n->relay:bob x\n```\n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"rulers and dashes", "---\n***\n- \n1.\n->relay:bob y", []Item{to("bob", "y", "->relay:bob y")}},
	{"nothing", "", nil},
}

func TestText(t *testing.T) {
	for _, c := range grammar {
		t.Run(c.name, func(t *testing.T) { same(t, Text(c.in), c.want) })
	}
}

func same(t *testing.T, got, want []Item) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", show(got), show(want))
	}
}

func show(items []Item) string {
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "\n\t%.300s", fmt.Sprintf("%#v", item))
	}
	return b.String()
}

func TestLinesAreTheSameGrammar(t *testing.T) {
	for _, c := range grammar {
		var sc Scanner
		var got []Item
		for line := range strings.SplitSeq(c.in, "\n") {
			got = append(got, sc.Line(line)...)
		}
		same(t, append(got, sc.End()...), c.want)
		same(t, sc.End(), nil)
	}
}

func TestTurnEndForgetsOpenFences(t *testing.T) {
	var sc Scanner
	for _, open := range []string{"```", "->relay:bob <<<", "~~~~ x"} {
		sc.Line(open)
		same(t, sc.Line("->relay:bob inside"), nil)
		sc.End()
		same(t, sc.Line("->relay:bob after"), []Item{to("bob", "after", "->relay:bob after")})
	}
}

func TestBodiesUpTo64KiB(t *testing.T) {
	exact := strings.Repeat("a", protocol.MaxBody)
	lines := strings.Repeat("0123456789abcde\n", protocol.MaxBody/16)
	for _, c := range []struct {
		name, in, body string
	}{
		{"one line", "->relay:bob " + exact, exact},
		{"fence", "->relay:bob <<<" + exact + ">>>", exact},
		{"fence with newlines", "->relay:bob <<<\n" + exact + "\n>>>", exact},
		{"fence with CRLF", "->relay:bob <<<\r\n" + exact + "\r\n>>>", exact},
		{"wide fence", "->relay:bob <<<<<<<<<<<<\n" + exact + "\n>>>>>>>>>>>>", exact},
		{"lines", "->relay:bob <<<\n" + lines + "\n>>>", lines},
	} {
		got := Text(c.in + "\n->relay:carol next")
		if len(got) != 2 {
			t.Errorf("%s: got %d items, want 2", c.name, len(got))
			continue
		}
		if cmd, ok := got[0].(Command); !ok || cmd.Body != c.body || cmd.Raw != c.in {
			t.Errorf("%s: got %.80v…, want a body of %d bytes", c.name, got[0], len(c.body))
		}
	}
}

func TestLongerBodiesAreInvalid(t *testing.T) {
	long := strings.Repeat("a", protocol.MaxBody+1)
	const reason = "body over 65536 bytes"
	for _, c := range []struct{ name, in, raw string }{
		{"one line", "->relay:bob " + long, ("->relay:bob " + long)[:maxQuote]},
		{"fence", "->relay:bob <<<" + long + ">>>", ("->relay:bob <<<" + long)[:maxQuote]},
		{"fence with newlines", "->relay:bob <<<\n" + long + "\n>>>", "->relay:bob <<<"},
		{"never closed", "->relay:bob <<<\n" + strings.Repeat("x\n", protocol.MaxBody/2+1), "->relay:bob <<<"},
		{"opening line", "->relay:bob <<<" + long + "\n>>>", ("->relay:bob <<<" + long)[:maxQuote]},
	} {
		got := Text(c.in + "\n->relay:carol next")
		want := []Item{bad(reason, c.raw), to("carol", "next", "->relay:carol next")}
		t.Run(c.name, func(t *testing.T) { same(t, got, want) })
	}
}

// The decoys are messages and outputs that talk about markers. Not one line of
// them is a command; each file is also read with a command behind it.
func TestDecoysAreNoCommands(t *testing.T) {
	files, err := filepath.Glob("../testdata/markers/decoys/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d decoys, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			if !strings.Contains(string(b), "->relay:") {
				t.Error("decoy without a marker")
			}
			want := []Item{to("bob", "real", "->relay:bob real")}
			same(t, Text(string(b)+"\n->relay:bob real\n"), want)
			for _, cuts := range splits(string(b) + "\n->relay:bob real\n") {
				same(t, stream(cuts), want)
			}
		})
	}
}

func TestInvalidQuotesWholeCharacters(t *testing.T) {
	for pad := range 5 {
		in := "->relay:x/y " + strings.Repeat("a", pad) + strings.Repeat("€𝄞", 100)
		got := Text(in)[0].(Invalid).Raw
		if !strings.HasPrefix(in, got) || len(got) > maxQuote || len(got) < maxQuote-3 {
			t.Errorf("quote of %d bytes: %q", len(got), got)
		}
	}
}
