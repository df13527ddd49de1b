// Package anthropic is package fakeapi for the tests of Claude Code alone: its
// server with Anthropic's Messages API.
package anthropic
