package storm

import (
	"context"
	"math/rand/v2"
	"time"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/cmd/internal/testrig/storm/slot"
)

// typist is the human at one agent.
type typist struct {
	place *place
	rnd   *rand.Rand
	life  *slot.Life
}

// types types in spells until ctx ends; what is begun is finished before it returns.
func (p *place) types(ctx context.Context, rnd *rand.Rand) error {
	t := &typist{place: p, rnd: rnd}
	for {
		select {
		case <-time.After(time.Duration(3000+rnd.IntN(12_000)) * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
		l, err := p.Up(ctx)
		if err != nil {
			return nil // the run is over
		}
		if _, err := l.Listens(ctx); err != nil {
			continue // it ended
		}
		t.life = l
		if err := t.spell(); err != nil && !l.Doomed() {
			return err
		}
	}
}

// spell types something and submits it, after second thoughts at times.
func (t *typist) spell() error {
	if !t.place.program.line && t.rnd.IntN(4) == 0 {
		if err := t.draft(); err != nil {
			return err
		}
		if err := t.press("\x15"); err != nil { // never mind
			return err
		}
		t.rest(20, 200)
	}
	if err := t.draft(); err != nil {
		return err
	}
	if t.rnd.IntN(4) == 0 {
		t.rest(0, 1500) // messages may be about to begin
	} else {
		t.rest(5, 60)
	}
	return t.press("\r")
}

func (t *typist) draft() error {
	for i := range 1 + t.rnd.IntN(3) {
		if i > 0 {
			if err := t.press(" "); err != nil {
				return err
			}
		}
		if err := t.word(); err != nil {
			return err
		}
		t.rest(5, 80)
	}
	return nil
}

// word types the life's next word, in one write or key by key.
func (t *typist) word() error {
	w := books.Word(t.place.Name, t.life.N, len(t.life.Words)+1)
	t.life.Words = append(t.life.Words, w)
	if t.rnd.IntN(3) == 0 {
		return t.press(w)
	}
	for _, r := range w {
		if err := t.press(string(r)); err != nil {
			return err
		}
		t.rest(0, 15)
	}
	return nil
}

func (t *typist) press(keys string) error { return t.life.Term.Type(keys) }

// rest lets so many milliseconds pass; nothing depends on them.
func (t *typist) rest(least, most int) {
	<-time.After(time.Duration(least+t.rnd.IntN(most-least)) * time.Millisecond)
}
