package agent

import (
	"testing"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/protocol"
)

func TestNewerWordCounts(t *testing.T) {
	var o Own
	if got := word(&o); got != (ready.Word{}) {
		t.Errorf("got %+v", got)
	}
	o.Say(ready.Busy, "why")
	if got := word(&o); got.State != ready.Busy || got.Detail != "why" || !got.Said {
		t.Errorf("got %+v", got)
	}
	at := word(&o).At
	if !o.Set(ready.Word{State: ready.Ready, At: at.Add(-1)}) || word(&o).State != ready.Busy {
		t.Errorf("an older word of its files counts: %+v", word(&o))
	}
	if o.Set(ready.Word{State: ready.Ready, At: at.Add(1)}) || word(&o).State != ready.Ready {
		t.Errorf("a newer word of its files does not count: %+v", word(&o))
	}
	if o.Set(ready.Word{}); word(&o).State != ready.Busy {
		t.Errorf("without files: %+v", word(&o))
	}
}

func TestWordThroughTheTerminalIsAsOldAsItsFirstSight(t *testing.T) {
	var o Own
	began := time.Now()
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	ready1 := sight.Said{State: ready.Ready, Text: "state=done", Serial: 1}
	for _, c := range []struct {
		say  sight.Said
		at   int
		want ready.Word
	}{
		{sight.Said{}, 0, ready.Word{}},
		{ready1, 1, ready.Word{State: ready.Ready, At: at(1), From: protocol.SignOSC}},
		{ready1, 2, ready.Word{State: ready.Ready, At: at(1), From: protocol.SignOSC}},
		{sight.Said{State: ready.Ready, Text: "state=done", Serial: 2}, 3, ready.Word{State: ready.Ready, At: at(3), From: protocol.SignOSC}},
		{sight.Said{State: ready.Blocked, Text: "state=blocked", Detail: "permission", Serial: 3}, 4, ready.Word{State: ready.Blocked, Detail: "permission", At: at(4), From: protocol.SignOSC}},
		{sight.Said{}, 5, ready.Word{}},
	} {
		o.show(c.say, at(c.at))
		if got := word(&o); got != c.want {
			t.Errorf("after %+v at %d s: got %+v, want %+v", c.say, c.at, got, c.want)
		}
	}
	o.show(ready1, at(6))
	o.Set(ready.Word{State: ready.Busy, At: at(7)})
	if got := word(&o); got.State != ready.Busy {
		t.Errorf("newer files do not count: %+v", got)
	}
	o.show(sight.Said{State: ready.Ready, Serial: 9}, at(8))
	if got := word(&o); got.State != ready.Ready {
		t.Errorf("a newer word through the terminal does not count: %+v", got)
	}
}

// word is the one that counts.
func word(o *Own) ready.Word {
	newest, _ := o.hear()
	return newest
}
