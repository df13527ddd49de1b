package protocol_test

import (
	"fmt"

	"relay-pty/protocol"
)

// A request is decoded strictly: what is wrong is an answer for the client, which names the field.
func ExampleDecodeRequest() {
	for _, line := range []string{
		`{"type":"inject","id":"m1","from":"bob","body":"please review parser.go"}`,
		`{"type":"inject","id":"m1","from":"bob","body":"please","mode":"soon"}`,
	} {
		request, refused := protocol.DecodeRequest([]byte(line))
		if refused != nil {
			fmt.Println(refused.Code, refused.Field)
			continue
		}
		m := request.(*protocol.Inject)
		fmt.Println(m.From, "says", m.Body)
	}
	// Output:
	// bob says please review parser.go
	// bad_field mode
}
