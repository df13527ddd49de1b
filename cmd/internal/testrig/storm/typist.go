package storm

import (
	"context"
	"math/rand/v2"

	"relay-pty/cmd/internal/testrig/books"
)

// stroke is keys that are typed at once, and how many milliseconds the human rests after
// them: nothing depends on it.
type stroke struct {
	keys        string
	least, most int
}

// types types in spells until ctx ends; what is begun is finished before it returns.
func (p *place) types(ctx context.Context, rnd *rand.Rand) error {
	for {
		if pause(ctx, rnd, 3000, 15_000); ctx.Err() != nil {
			return nil
		}
		l, err := p.up(ctx)
		if err != nil {
			return nil // the run is over
		}
		if _, err := l.agentPid(ctx); err != nil {
			continue // it ended
		}
		for _, s := range p.spell(l, rnd) {
			if err := l.term.Type(s.keys); err != nil && !l.doomed() {
				return err
			} else if err != nil {
				break
			}
			pause(context.WithoutCancel(ctx), rnd, s.least, s.most)
		}
	}
}

// spell is something to type and to submit, after second thoughts at times.
func (p *place) spell(l *life, rnd *rand.Rand) (all []stroke) {
	if !p.line && rnd.IntN(4) == 0 {
		all = append(p.draft(l, rnd), stroke{"\x15", 20, 200}) // never mind
	}
	all = append(all, p.draft(l, rnd)...)
	last := &all[len(all)-1]
	if rnd.IntN(4) == 0 {
		last.most += 1500 // messages may be about to begin
	}
	return append(all, stroke{"\r", 0, 1})
}

// draft is the life's next words, each in one write or key by key.
func (p *place) draft(l *life, rnd *rand.Rand) (all []stroke) {
	for i := range 1 + rnd.IntN(3) {
		if i > 0 {
			all = append(all, stroke{" ", 0, 1})
		}
		w := books.Word(p.name, l.n, len(l.words)+1)
		l.words = append(l.words, w)
		if rnd.IntN(3) == 0 {
			all = append(all, stroke{w, 5, 80})
			continue
		}
		for _, r := range w {
			all = append(all, stroke{string(r), 0, 15})
		}
		all[len(all)-1].most = 80
	}
	return all
}
