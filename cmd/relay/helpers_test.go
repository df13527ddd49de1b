package main

import (
	"testing"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// message is one to a single recipient.
func message(d router.Delivery) (m api.Message) {
	m.Delivery = d
	return m
}
