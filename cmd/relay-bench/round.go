package main

import (
	"context"
	"fmt"
	"time"
)

// round measures each thing once.
func (r *rig) round(i int) error {
	for _, step := range []func(words, from string) error{r.warm, r.typed, r.marker, r.cold} {
		if err := r.pause(); err != nil {
			return err
		}
		// Each round has a sender of its own, for few messages a minute go from one to another.
		if err := step(fmt.Sprintf("words%d", i), fmt.Sprintf("ci%d", i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) pause() error {
	select {
	case <-time.After(rest):
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// clock notes how long command takes, and how long it is until an agent has its words.
func (r *rig) clock(command func() error, whole, arrived measure, words string) error {
	began := now()
	if err := command(); err != nil {
		return err
	}
	r.times[whole] = append(r.times[whole], now()-began)
	if arrived == "" {
		return nil
	}
	at, err := r.await("got", words)
	r.times[arrived] = append(r.times[arrived], at-began)
	return err
}

func (r *rig) warm(words, from string) error {
	return r.clock(func() error { return r.do(r.relay, "send", "a", words, "--from", from) }, sendWarm, sendByte, words)
}

// cold ends the router first.
func (r *rig) cold(words, from string) error {
	if err := r.endRouter(); err != nil {
		return err
	}
	return r.clock(func() error { return r.do(r.relay, "send", "b", words, "--from", from) }, sendCold, "", words)
}

// typed is how it is done without relay.
func (r *rig) typed(words, _ string) error {
	if r.tmux == "" {
		return nil
	}
	words = "typed" + words
	return r.clock(func() error { return r.keys("send-keys", "-t", "c", words, "Enter") }, sendKeys, keysByte, words)
}

// marker has one agent write to the other.
func (r *rig) marker(words, from string) error {
	words = "passed" + words
	if err := r.do(r.relay, "send", "a", "say b "+words, "--from", from); err != nil {
		return err
	}
	said, err := r.await("said", words)
	if err != nil {
		return err
	}
	got, err := r.await("got", words)
	r.times[markerByte] = append(r.times[markerByte], got-said)
	return err
}
