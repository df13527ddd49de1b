package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// decode reads a request as strictly as a wrapper does: unknown, doubled and case-folded fields,
// text that is no UTF-8 and a second value are refused.
func decode(r *http.Request, into any) error {
	err := strict.UnmarshalRead(r.Body, into, strict.RejectUnknownMembers(true))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return router.Refusal(protocol.MessageTooLarge,
			"the request is over %d bytes; a body may have %d", maxRequest, protocol.MaxBody)
	case err != nil && r.ContentLength == 0:
		return router.Refusal(protocol.BadJSON, "the request is empty, and is to be a JSON object")
	case err != nil:
		return router.Refusal(protocol.BadJSON, "the request: %s", mistake(err))
	}
	return nil
}

// mistake tells what is wrong with a request, in words of JSON alone.
func mistake(err error) string {
	var grammar *jsontext.SyntacticError
	var meaning *strict.SemanticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends before its JSON object does"
	case errors.As(err, &meaning) && errors.Is(err, strict.ErrUnknownName):
		return "there is no field " + field(meaning.JSONPointer)
	case errors.As(err, &meaning) && meaning.JSONPointer == "":
		return "it is to be a JSON object"
	case errors.As(err, &meaning):
		return fmt.Sprintf("the field %s is to be %s", field(meaning.JSONPointer), kind(meaning.GoType))
	case errors.As(err, &grammar) && errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the field %s stands there twice", field(grammar.JSONPointer))
	case errors.As(err, &grammar):
		return fmt.Sprintf("it is no valid JSON at byte %d", grammar.ByteOffset)
	}
	return err.Error() // of its connection
}

// field is where in the request something stands.
func field(at jsontext.Pointer) string { return strings.TrimPrefix(string(at), "/") }

// kind is what JSON calls a type.
func kind(of reflect.Type) string {
	if of == nil {
		return "something else"
	}
	switch of.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number of 64 bits"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
