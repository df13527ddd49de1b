package sabotage

// All are the sabotages. The one that only a power cut can show, a journal that does not
// sync, belongs to the simulation of power cuts.
func All() []Sabotage {
	return append(append(accepting(), recovering()...), typing()...)
}

const (
	mailbox = "queue/mailbox.go"
	attempt = "queue/attempt.go"
	commit  = "queue/commit.go"
	cancel  = "queue/cancel.go"
	ledger  = "cmd/relay-pty/ledger/ledger.go"
	deliver = "inject/deliver.go"
)

var (
	lines     = []string{"line", "line"}
	composers = []string{"composer", "stranger"}
	kills     = []string{"kill-wrapper"}
)

// accepting are those of what a sender is told.
func accepting() []Sabotage {
	return []Sabotage{
		{
			Name:     "queued is told before the commit, which comes a little later",
			CaughtBy: []string{"I12", "I11"},
			Fails:    "cursor_gone", // what was told last is not there any more
			Provoke:  Provoke{Programs: lines, Kinds: kills, Faults: 20, Messages: 1500},
			Edits: []Edit{
				{commit, "\terr := o.store.Commit(batch)\n", "\to.mu.Lock()\n\to.tellLocked(batch)\n\to.mu.Unlock()\n\tanswer(batch, nil)\n\t<-time.After(30 * time.Millisecond)\n\terr := o.store.Commit(batch)\n"},
				{commit, "\t\to.tellLocked(batch)\n\t} else", "\t} else"},
				{commit, "\tif err == nil {\n\t\tanswer(batch, nil)\n\t}\n", ""},
			},
		},
		{
			Name:     "ids are not remembered",
			CaughtBy: []string{"I1", "I5"},
			Provoke:  Provoke{Programs: lines, Kinds: kills, Faults: 30, Messages: 3000},
			Edits: []Edit{
				{mailbox, "if it := m.knownLocked(msg.ID); it != nil {\n\t\tif !bytes", "if it := m.knownLocked(msg.ID); it != nil && it.Status == protocol.StatusQueued {\n\t\tm.leaveLocked(it)\n\t} else if it != nil && it.Live() {\n\t\tif !bytes"},
			},
		},
		{
			Name:     "the last one to come goes first",
			CaughtBy: []string{"I6"},
			Provoke:  Provoke{Programs: lines, Messages: 500},
			Edits: []Edit{
				{"queue/message.go", "cmp.Compare(a.Arrival, b.Arrival)", "cmp.Compare(b.Arrival, a.Arrival)"},
			},
		},
		{
			Name:     "what is cancelled is typed all the same",
			CaughtBy: []string{"I1", "I3"},
			Fails:    "was told that it is cancelled",
			Provoke:  Provoke{Programs: lines, Messages: 3000},
			Edits: []Edit{
				{cancel, "err = m.endLocked(it, Outcome{Status: protocol.StatusCancelled}, now)\n\t\tm.pressureLocked(now)",
					"again := *it\n\t\terr = m.endLocked(it, Outcome{Status: protocol.StatusCancelled}, now)\n\t\tm.items[it.ID], m.ended = &again, m.ended[:len(m.ended)-1]\n\t\tm.waiting = append(m.waiting, &again)"},
			},
		},
		{
			Name:     "what has expired is typed all the same",
			CaughtBy: []string{"I1", "I3"},
			Fails:    "was told that it is expired",
			Provoke:  Provoke{Programs: lines, Messages: 3000},
			Edits: []Edit{
				{attempt, "err = errors.Join(err, m.endLocked(it, Outcome{Status: protocol.StatusExpired}, now))",
					"again := *it\n\t\t\terr = errors.Join(err, m.endLocked(it, Outcome{Status: protocol.StatusExpired}, now))\n\t\t\tagain.ExpiresAt = time.Time{}\n\t\t\tm.items[it.ID], m.ended = &again, m.ended[:len(m.ended)-1]\n\t\t\tm.waiting = append(m.waiting, &again)"},
			},
		},
	}
}

// recovering are those of a run after one that was killed.
func recovering() []Sabotage {
	inDoubt := Provoke{Programs: []string{"composer", "stranger", "slow", "stranger"}, Kinds: kills, Faults: 60, Messages: 1200}
	return []Sabotage{
		{
			Name:     "recovery drops what waits",
			CaughtBy: []string{"I1", "I12"},
			Provoke:  Provoke{Programs: lines, Kinds: kills, Faults: 6, Messages: 800},
			Edits: []Edit{
				{mailbox, "\t\tm.waiting = slices.Insert(m.waiting, m.placeLocked(it), it)\n\t}\n\tm.changedLocked()", "\t\tit.Status = protocol.StatusDelivered\n\t}\n\tm.changedLocked()"},
			},
		},
		{
			Name:     "recovery types what was interrupted again, unmarked",
			CaughtBy: []string{"I5"},
			Provoke:  inDoubt,
			Edits: []Edit{
				{attempt, "\tit.Again = true\n", ""},
			},
		},
		{
			Name:     "recovery types again what is to be typed once",
			CaughtBy: []string{"I5"},
			Provoke:  inDoubt,
			Edits: []Edit{
				{attempt, "return !it.Again && it.Redelivery == protocol.RedeliverOnce }", "return !it.Again }"},
				{ledger, "case m.Redelivery == protocol.RedeliverOnce && !m.Again:", "case !m.Again:"},
			},
		},
		{
			Name:     "recovery calls what was interrupted delivered",
			CaughtBy: []string{"I2"},
			Provoke:  inDoubt,
			Edits: []Edit{
				{ledger, "case shown:\n", "case true:\n"},
			},
		},
		{
			Name:     "that an attempt begins is not recorded",
			CaughtBy: []string{"I1", "I5"},
			Provoke:  inDoubt,
			Edits: []Edit{
				{attempt, "written, err := m.sink.Propose(now, proposals...)", `stale := slices.Clone(proposals)
	for i, d := range proposals {
		rec := *d.Record
		rec.Status, rec.Attempt = protocol.StatusQueued, rec.Attempt-1
		stale[i].Record = &rec
	}
	written, err := m.sink.Propose(now, stale...)`},
			},
		},
		{
			Name:     "a restart tells an event again",
			CaughtBy: []string{"I1"},
			Provoke:  Provoke{Programs: lines, Kinds: kills, Faults: 6, Messages: 800},
			Edits: []Edit{
				{mailbox, "\t\tm.waiting = slices.Insert(m.waiting, m.placeLocked(it), it)\n\t}\n\tm.changedLocked()",
					"\t\tm.waiting = slices.Insert(m.waiting, m.placeLocked(it), it)\n\t\tm.sink.Append(time.Now(), Proposal{Event: it.result()})\n\t}\n\tm.changedLocked()"},
			},
		},
	}
}

// typing are those of what an agent reads.
func typing() []Sabotage {
	return []Sabotage{
		{
			Name:     "the human's keys do not wait",
			CaughtBy: []string{"I8", "I9", "I10"},
			Provoke:  Provoke{Programs: []string{"slow", "slow"}, Messages: 300, Typing: true},
			Edits: []Edit{
				{"pty/writer.go", "\t\tcase injector, replayer:\n", "\t\tcase injector:\n\t\t\tw.mu.Unlock()\n\t\t\t_, err := w.f.Write(p)\n\t\t\treturn w.explain(err)\n\t\tcase replayer:\n"},
			},
		},
		{
			Name:     "Enter is no part of the transaction",
			CaughtBy: []string{"I8", "I10"},
			Provoke:  Provoke{Programs: []string{"slow", "slow"}, Messages: 300, Typing: true},
			Edits: []Edit{
				{deliver, "\tif r := a.pressEnter(ctx, look); r != nil {\n\t\treturn r\n\t}\n\treturn a.awaitGone(ctx)", `	a.release()
	if tx, err := a.in.begin(ctx); err == nil {
		a.tx = tx
	}
	if r := a.pressEnter(ctx, look); r != nil {
		return r
	}
	return a.awaitGone(ctx)`},
			},
		},
		{
			Name:     "a human's draft does not matter, nor that it is being typed",
			CaughtBy: []string{"I8"},
			Provoke:  Provoke{Programs: lines, Messages: 1500, Typing: true},
			Edits: []Edit{
				{"inject/inject.go", "const humanRest = time.Second", "const humanRest = time.Millisecond"},
				{"inject/hold.go", "func (in *Injector) drafted(l Look) bool {\n", "func (in *Injector) drafted(l Look) bool {\n\tif true {\n\t\treturn false\n\t}\n"},
			},
		},
		{
			Name:     "delivered is what was written",
			CaughtBy: []string{"I2", "I10"},
			Provoke:  Provoke{Programs: []string{"slow", "slow"}, Kinds: []string{"kill-agent", "kill-wrapper"}, Faults: 12, Messages: 300},
			Edits: []Edit{
				{deliver, "\tif r, ok := a.await(ctx, a.holdsOurs); !ok {\n\t\treturn r\n\t}\n\tt := a.in.Profile.Typing",
					"\ta.pressEnter(ctx, a.in.look())\n\tif true {\n\t\treturn &Result{Status: Delivered, Evidence: protocol.EvidenceSubmitted}\n\t}\n\tt := a.in.Profile.Typing"},
			},
		},
		{
			Name:     "of several messages in a turn the first alone is typed",
			CaughtBy: []string{"I2"},
			Provoke:  Provoke{Programs: lines, Messages: 500},
			Edits: []Edit{
				{"inject/turn/turn.go", "\tvar b strings.Builder\n\tfor i, m := range t {\n", "\tvar b strings.Builder\n\tfor i, m := range t[:1] {\n"},
			},
		},
		{
			Name:     "control characters stay in a body",
			CaughtBy: []string{"I7", "I10", "I2"},
			Fails:    "ended by itself", // by a ^C or a ^D
			Provoke:  Provoke{Programs: composers, Messages: 1200},
			Edits: []Edit{
				{"parser/sanitize.go", "\tif clean(s) {\n", "\tif true {\n"},
			},
		},
		{
			Name:     "a body may look like a footer",
			CaughtBy: []string{"I7", "I2"},
			Provoke:  Provoke{Programs: lines, Messages: 3000},
			Edits: []Edit{
				{"parser/envelope.go", "\t\tif forged(line) {\n", "\t\tif false {\n"},
			},
		},
	}
}
