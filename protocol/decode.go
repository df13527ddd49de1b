package protocol

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func (h *Head) decode(f *fields) { h.Req = f.checked("req", may, validReq) }

func (r *Hello) decode(f *fields) {
	r.Head.decode(f)
	r.Token = f.checked("token", may, atMost(maxToken))
}

func (r *Query) decode(f *fields) {
	r.Head.decode(f)
	r.ID = f.checked("id", must, ValidID)
}

func (r *Cancel) decode(f *fields) {
	r.Head.decode(f)
	r.ID = f.checked("id", must, ValidID)
}

func (r *Signal) decode(f *fields) {
	r.Head.decode(f)
	r.Event = f.oneOf("event", must, Signals())
	r.Detail = f.checked("detail", may, short)
}

func short(s string) error {
	if len(s) > MaxDetail {
		return fmt.Errorf("must have at most %d bytes", MaxDetail)
	}
	return nil
}

func (r *Emit) decode(f *fields) {
	r.Head.decode(f)
	r.To = f.checked("to", must, ValidTarget)
	r.Body = f.body()
	r.ReplyTo = f.checked("reply_to", may, ValidID)
	r.Thread = f.checked("thread", may, ValidID)
	if f.has("mode") {
		r.Mode = f.oneOf("mode", must, Modes())
	}
}

func (r *Pause) decode(f *fields) {
	r.Head.decode(f)
	r.ForMS = f.integer("for_ms", 0)
}

func (r *Keys) decode(f *fields) {
	r.Head.decode(f)
	r.Keys = f.list("keys", must, "names of keys", func(string) bool { return true })
	if n := len(r.Keys); n > MaxKeys {
		f.fail(BadField, "keys", "at most %d keys, these are %d", MaxKeys, n)
	}
}

func (r *Subscribe) decode(f *fields) {
	r.Head.decode(f)
	if f.has("after") {
		after := f.integer("after", 0)
		r.After = &after
	}
	r.Events = f.oneOfs("events", EventTypes())
}

func (r *Inject) decode(f *fields) {
	r.Head.decode(f)
	r.ID = f.checked("id", must, ValidID)
	r.From = f.checked("from", must, ValidFrom)
	r.Body = f.body()
	r.Priority = f.integer("priority", math.MinInt64)
	r.Mode = f.oneOf("mode", may, Modes())
	r.TimeoutMS = f.integer("timeout_ms", 0)
	r.Redelivery = f.oneOf("redelivery", may, []string{RedeliverNever, RedeliverOnce, RedeliverMarked})
	r.ReplyTo = f.checked("reply_to", may, ValidID)
	r.Thread = f.checked("thread", may, ValidID)
	r.Kind = f.oneOf("kind", may, []string{KindMessage, KindNotice, KindCommand})
	r.ShortID = f.checked("short_id", may, ValidID)
	r.ReplyShortID = f.checked("reply_short_id", may, ValidID)
	r.ReplyQuote = f.checked("reply_quote", may, short)
}

func (f *fields) body() string {
	body := f.text("body", must)
	switch {
	case f.err != nil:
	case body == "":
		f.fail(BadField, "body", "a body may not be empty")
	case len(body) > MaxBody:
		f.fail(MessageTooLarge, "body", "a body may have at most %d bytes, this one has %d", MaxBody, len(body))
	}
	return body
}

// oneOfs reads a list of words, nil when it is absent.
func (f *fields) oneOfs(name string, words []string) []string {
	return f.list(name, may, fmt.Sprintf("of %v", words), func(w string) bool { return slices.Contains(words, w) })
}

// oneOf reads one of words; the first is the default where it need not be there.
func (f *fields) oneOf(name string, need bool, words []string) string {
	if !need && !f.has(name) {
		return words[0]
	}
	got := f.text(name, must)
	if f.err == nil && !slices.Contains(words, got) {
		f.fail(BadField, name, "must be one of %s", strings.Join(words, ", "))
	}
	return got
}
