package fakemodel

import "sync"

// habits are how a server answers. They may change while it runs; a turn goes by those with which
// it began.
type habits struct {
	lock sync.Mutex
	habit
}

type habit struct {
	respond Responder
	keepRaw bool
	fails   bool
}

func (h *habits) present() habit {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.habit
}

func (h *habits) change(f func(*habit)) {
	h.lock.Lock()
	defer h.lock.Unlock()
	f(&h.habit)
}

// Respond makes r choose the replies; until then Script does.
func (h *habits) Respond(r Responder) { h.change(func(h *habit) { h.respond = r }) }

// Responder is what chooses the replies.
func (h *habits) Responder() Responder { return h.present().respond }

// KeepRaw keeps each turn's request body in Turn.Raw.
func (h *habits) KeepRaw() { h.change(func(h *habit) { h.keepRaw = true }) }

// Fail has every request refused from now on, as by a server in trouble, or none any more. Agents
// try again.
func (h *habits) Fail(yes bool) { h.change(func(h *habit) { h.fails = yes }) }
