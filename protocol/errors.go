package protocol

import (
	"fmt"
	"strings"
	"unicode"
)

// Code is an error code of the wire. The set is closed; codes are API.
type Code string

// The codes that an error frame can carry.
const (
	BadJSON            Code = "bad_json"
	UnknownType        Code = "unknown_type"
	BadField           Code = "bad_field"
	MissingField       Code = "missing_field"
	MessageTooLarge    Code = "message_too_large"
	LineTooLarge       Code = "line_too_large"
	QueueFull          Code = "queue_full"
	DuplicateID        Code = "duplicate_id"
	UnknownID          Code = "unknown_id"
	TooLate            Code = "too_late"
	CursorGone         Code = "cursor_gone"
	NotAuthorized      Code = "not_authorized"
	TooManyConnections Code = "too_many_connections"
	LaggedCode         Code = "lagged"
	Degraded           Code = "degraded"
	ShuttingDown       Code = "shutting_down"
)

// Error is the answer to a refused request. Field, ID and Req are empty when unknown.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitzero"`
	ID      string `json:"id,omitzero"`
	Req     string `json:"req,omitzero"`
}

// Type is the frame's "type".
func (*Error) Type() string { return "error" }

// Tag is the "req" of the request that was refused.
func (e *Error) Tag() string { return e.Req }

func (e *Error) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s (%s): %s", e.Code, e.Field, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// maxFieldEcho bounds what we repeat of a field name that the client made up, bytes.
const maxFieldEcho = 128

func fieldError(code Code, field, format string, args ...any) *Error {
	if len(field) > maxFieldEcho || strings.ContainsFunc(field, unicode.IsControl) {
		field = "" // nothing that we could name
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Field: field}
}
