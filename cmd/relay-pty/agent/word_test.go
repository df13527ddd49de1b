package agent

import (
	"testing"

	"relay-pty/inject/ready"
)

func TestNewerWordCounts(t *testing.T) {
	var o Own
	if got := o.get(); got != (ready.Word{}) {
		t.Errorf("got %+v", got)
	}
	o.Say(ready.Busy, "why")
	if got := o.get(); got.State != ready.Busy || got.Detail != "why" || !got.Said {
		t.Errorf("got %+v", got)
	}
	at := o.get().At
	if !o.Set(ready.Word{State: ready.Ready, At: at.Add(-1)}) || o.get().State != ready.Busy {
		t.Errorf("an older word of its files counts: %+v", o.get())
	}
	if o.Set(ready.Word{State: ready.Ready, At: at.Add(1)}) || o.get().State != ready.Ready {
		t.Errorf("a newer word of its files does not count: %+v", o.get())
	}
	if o.Set(ready.Word{}); o.get().State != ready.Busy {
		t.Errorf("without files: %+v", o.get())
	}
}
