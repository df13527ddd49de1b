package inject

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol"
)

// stashers are a composer that shows that a draft is set aside, one that does not, and one that
// can only clear it.
func stashers(t *testing.T) map[string]*profile.Profile {
	claude, _ := agents.Named("claude")
	clears := overlaid(t, "")
	clears.Typing.Stash, clears.Typing.Retype = "\x03", true
	return map[string]*profile.Profile{"shown": claude, "not shown": overlaid(t, ""), "typed again": clears}
}

// oldDraft has a draft of the human's that is about to be old enough to be set aside, and a
// message.
func oldDraft(r *rig) {
	pass(10 * time.Second)
	r.human("half a draft")
	pass(draftTimeout - 10*time.Second)
	r.mail.add("m1", "hello")
	pass(9 * time.Second)
}

func wantDraft(t *testing.T, r *rig, when, want string) {
	t.Helper()
	if got := r.shows(); got != want {
		t.Errorf("%s the composer holds %q, want %q", when, got, want)
	}
}

// TestDraftIsSetAsideLate: the agent does everything that it reads so much later, from when the key
// that sets the draft aside is pressed, or that key alone.
func TestDraftIsSetAsideLate(t *testing.T) {
	for name, p := range stashers(t) {
		for _, lag := range []time.Duration{700 * time.Millisecond, 2 * time.Second, 4 * time.Second, 9 * time.Second, 12 * time.Second, time.Minute} {
			for _, all := range []bool{true, false} {
				t.Run(name+" "+lag.String(), func(t *testing.T) {
					runAs(t, p, func(t *testing.T, r *rig) {
						oldDraft(r)
						r.do(func(f *fakeTerm) { f.lag = lag })
						pass(1500 * time.Millisecond)
						if !all || lag > 5*time.Second {
							r.do(func(f *fakeTerm) { f.lag = time.Nanosecond })
						}
						if lag > 10*time.Second {
							pass(lag + time.Second)
							wantInOrder(t, r)
							wantDraft(t, r, "after the key", "half a draft")
						}
						wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
						pass(time.Minute)
						wantInOrder(t, r, m1)
						wantDraft(t, r, "at the end", "half a draft")
					})
				})
			}
		}
	}
}

// TestLateEnterIsNotPressedAgainBesideAStash of the human's own, which the first Enter brings back.
func TestLateEnterIsNotPressedAgainBesideAStash(t *testing.T) {
	for _, late := range []time.Duration{700 * time.Millisecond, 2 * time.Second, 5 * time.Second} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.late = late })
			r.human("half a draft")
			r.human("\x13")
			r.mail.add("m1", "hello")
			r.ends(t, "m1")
			pass(time.Minute)
			wantInOrder(t, r, m1)
			wantDraft(t, r, "after an Enter that is late by "+late.String(), "half a draft")
		})
	}
}

func TestKeyThatSetsAsideIsTakenBack(t *testing.T) {
	for name, p := range stashers(t) {
		t.Run(name, func(t *testing.T) {
			runAs(t, p, func(t *testing.T, r *rig) {
				oldDraft(r)
				r.do(func(f *fakeTerm) { f.stalled = true })
				pass(12 * time.Second)
				r.human(" more")
				pass(1500 * time.Millisecond)
				r.do(func(f *fakeTerm) {
					if got := string(f.unread); got != " more" {
						t.Errorf("the agent is to read %q, want the human's keys alone", got)
					}
				})
				r.resume()
				pass(time.Hour)
				wantDraft(t, r, "later", "half a draft more")
				if r.bytes() != "half a draft more" || r.hold() != protocol.WaitsForDraft {
					t.Errorf("the agent read %q, the message waits for %q", r.bytes(), r.hold())
				}
				wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
				wantInOrder(t, r, m1)
				wantDraft(t, r, "at the end", "half a draft more")
			})
		})
	}
}

// TestHumanTypesWhileTheDraftIsSetAside: their keys do not wait for an agent that has read the key
// and is yet to act, and the draft is not lost.
func TestHumanTypesWhileTheDraftIsSetAside(t *testing.T) {
	for name, p := range stashers(t) {
		for _, ends := range []string{"\r", "\x15"} {
			t.Run(name, func(t *testing.T) {
				runAs(t, p, func(t *testing.T, r *rig) {
					oldDraft(r)
					r.do(func(f *fakeTerm) { f.lag = 5 * time.Second })
					pass(1500 * time.Millisecond)
					r.human("other")
					pass(1100 * time.Millisecond)
					if got := r.bytes(); !strings.HasSuffix(got, "other") {
						t.Errorf("the agent read %q, not yet the human's keys", got)
					}
					pass(10 * time.Second)
					wantDraft(t, r, "where the human types", "other")
					r.do(func(f *fakeTerm) { f.lag = 0 })
					pass(time.Hour)
					r.human(ends)
					pass(20 * time.Second)
					wantDraft(t, r, "after the human's key", "half a draft")
					r.human("\r")
					wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
					want := []string{"other", "half a draft", m1}
					if ends != "\r" {
						want = want[1:]
					}
					wantInOrder(t, r, want...)
				})
			})
		}
	}
}

// TestDraftThatTheHumanSendsIsNotBroughtBack, though its key to set it aside never acted.
func TestDraftThatTheHumanSendsIsNotBroughtBack(t *testing.T) {
	for name, p := range stashers(t) {
		t.Run(name, func(t *testing.T) {
			runAs(t, p, func(t *testing.T, r *rig) {
				oldDraft(r)
				r.do(func(f *fakeTerm) { f.noStash = true })
				pass(20 * time.Second)
				r.human("\r")
				wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
				pass(time.Hour)
				wantInOrder(t, r, "half a draft", m1)
				if wantDraft(t, r, "at the end", ""); slices.Contains(r.asides(), "set m1") {
					t.Error("it was told that the draft was set aside")
				}
			})
		})
	}
}
