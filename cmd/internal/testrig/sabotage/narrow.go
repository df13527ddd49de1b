package sabotage

import "slices"

// Narrow is a sabotage that no storm has to find: one test catches it by itself.
type Narrow struct {
	Sabotage
	Package, Test string // the test, and the package that it is in, from the module's root
}

// AllNarrow are those of promises that a storm does not provoke.
func AllNarrow() []Narrow { return slices.Concat(narrowTyping(), narrowAround()) }

// narrowTyping are those of what is seen of an agent and typed to it.
func narrowTyping() []Narrow {
	return []Narrow{
		narrow("text goes into what nobody described", "inject/ready", "TestJudgeLine",
			Edit{"inject/ready/ready.go", "\tcase !r.Reserved:\n", "\tcase true:\n"}),
		narrow("a builtin that asks with the prompt's text gets messages", "inject/prompt", "TestAtOneThatEdits",
			Edit{"inject/prompt/prompt.go", "return w.edits && !r.Edits || ", "return "}),
		narrow("what the human took back out of the agent's queue is submitted", "inject", "TestQueuedMessageThatTheHumanTakesBackIsADraft",
			Edit{"inject/cameback.go", "back.byHuman = back.byHuman || typedSince(l, ready.Later(a.enter, in.halted))", "back.byHuman = false"}),
		narrow("half a repaint gives a queued message back", "inject", "TestQueuedMessageThatOnlySeemsToComeBack",
			Edit{"inject/cameback.go", "left := backRest - now.Sub(since)", "left := -now.Sub(since)"}),
		narrow("a key is typed close behind an Esc", "inject", "TestNoKeyIsOneWithAnEscOfATurnThatEnds",
			Edit{"inject/busy.go", " || read.IsZero() || l.Facts.Now.Sub(read) < keyRest:", " || read.IsZero():"}),
		narrow("a key of a mode that became text stays", "inject", "TestKeyOfAModeThatBecameText",
			Edit{"inject/busy.go", "\t\t\tin.mayLeave(key)\n", ""}),
		narrow("the body is typed before the header is seen", "inject", "TestHeaderThatIsTakenForCommandsIsAllThatIsTyped",
			Edit{"inject/deliver.go", "a.awaitPiece(ctx, piece, before, i == 0 && a.in.Profile.Composer != nil)", "a.awaitPiece(ctx, piece, before, false)"}),
		narrow("what was said before is a dialog while the composer is painted", "inject", "TestMessageThatReadsLikeADialogForAMoment",
			Edit{"inject/inject.go", "\tif !asks {\n", "\tif true {\n"}),
		narrow("a part of a message that a dialog cut off stays", "inject", "TestDialogThatSwallowsTheMessageCostsNothing",
			Edit{"inject/confirm.go", "\tcase a.begunIn(look):\n", "\tcase false:\n"}),
		narrow("a piece of blanks is followed at once", "inject", "TestPieceOfBlanksIsSeen",
			Edit{"inject/deliver.go", "(moved || !piece.Blank())", "(moved || true)"}),
		narrow("a character beside the border hides the composer", "inject/sight", "TestRowsOfThePageThatRunOver",
			Edit{"inject/sight/composer.go", "\tif size == 0 || isBorder", "\tif true || isBorder"}),
		narrow("a footer that a body quotes is taken for its own", "inject/turn", "TestStandsWhereBodiesQuote",
			Edit{"inject/turn/turn.go", "\tquotes := strings.Count(body, footer)\n", "\tquotes := 0\n"}),
		narrow("git is told a message for a name", "inject/sight", "TestLookAtLinePrograms",
			Edit{"inject/profile/generic.go", `|\botp\b|\buser ?name\b|\blogin\b).{0,80}:`, `|\botp\b)[^:]{0,80}:`}),
		narrow("a low terminal is not told of", "inject/ready", "TestTooLowTerminalIsTold",
			Edit{"inject/ready/ready.go", "f.Rows > 0 && f.Rows < r.Rows", "false"}),
		narrow("a low terminal's pastes are taken for text", "inject/turn", "TestPiecesInLowTerminals",
			Edit{"inject/profile/profile.go", "min(t.PasteLines, max(0, rows-t.PasteRows+1))", "t.PasteLines"}),
		narrow("what an agent leaves of a message is a draft", "inject", "TestStraysAreNoDraft",
			Edit{"inject/strays.go", "\tif len(in.strays) == 0 ||", "\tif true ||"}),
		narrow("what a builtin reads by the terminal's own editing gets messages", "inject/prompt", "TestAtOneThatAsksAlike",
			Edit{"inject/prompt/prompt.go", " || w.readPlace != \"\" && r.ReadPlace != \"\" && r.ReadPlace != w.readPlace", ""}),
		narrow("a text that reads like a dialog is one", "inject/sight", "TestLookAtTheOtherAgents",
			Edit{"inject/sight/composer.go", "return s.Modes().CursorHidden && slices.ContainsFunc(dialogs, starts)", "return slices.ContainsFunc(dialogs, starts) || firstMatch(dialogs, text) != \"\""}),
		narrow("a text that reads like work is work", "inject/sight", "TestLookAtTheOtherAgents",
			Edit{"inject/sight/sight.go", "v.Working || anyRow(s, below, rows, p.Busy)", "v.Working || anyRow(s, 0, rows, p.Busy)"}),
		narrow("what an agent hides is waited for", "inject", "TestMessageHiddenBehindAChipGoesAnotherWay",
			Edit{"inject/deliver.go", "hidden = !chip.IsZero() && ", "hidden = false && "}),
		narrow("a row that runs over ends a composer taller than the screen", "inject/sight", "TestComposerTallerThanTheScreen",
			Edit{"inject/sight/composer.go", "\tif ranOver(s, row) || row == 0 && ", "\tif row == 0 && "}),
		narrow("a composer that ends with blanks has no end", "inject/sight", "TestComposerTallerThanTheScreen",
			Edit{"inject/sight/composer.go", "\tfilled := cursor == rows-1 || ", "\tfilled := "}),
		narrow("what was painted before hides a footer", "inject/turn", "TestStandsAmongStrays",
			Edit{"inject/turn/turn.go", " || t.strewn(s, top))", ")"}),
		narrow("somebody's words behind a message are strays", "inject/turn", "TestStandsAmongStrays",
			Edit{"inject/turn/turn.go", " && strings.HasSuffix(s, plain(lastWord(t.last().Footer)))", ""}),
		narrow("a key that may open a dialog clears what is not ours", "inject", "TestNoFurtherKeyClearsWhatIsNotOurs",
			Edit{"inject/clear.go", "if list = list[1:]; !a.isOurs(a.in.look()) {", "if list = list[1:]; false {"}),
		narrow("a row that runs over the next ends a composer", "inject/sight", "TestRowsThatRunOver",
			Edit{"inject/sight/composer.go", "!b.Visible && ranOver(s, row)", "false"}),
		narrow("what was left behind is removed although the human has typed", "inject", "TestWhatWasLeftBehindIsRemoved",
			Edit{"inject/remnant.go", " && !typedSince(l, r.typed)", ""}),
	}
}

// narrowAround are those of what stands around that: terminal, socket, journal, words.
func narrowAround() []Narrow {
	return []Narrow{
		narrow("a journal without a name is written on", "queue/journal", "TestRemovedFile",
			Edit{"queue/journal/journal.go", "\treturn err == nil && os.SameFile(open, now)\n", "\treturn err != nil || now != open\n"}),
		narrow("a socket that was removed stays away", "protocol/sock", "TestRemovedSocketIsMadeAnew",
			Edit{"protocol/sock/listen.go", "err != nil || l.named() {", "true {"}),
		narrow("invisible characters stay in a body", "parser", "TestSanitizeLeavesNothingHidden",
			Edit{"parser/sanitize.go", "\tif strings.IndexFunc(s, misread) >= 0 {\n", "\tif false {\n"}),
		narrow("a draft that holds messages shows by no notice", "cmd/relay-pty", "TestNoticeBeginsAndEnds",
			Edit{"cmd/relay-pty/notice.go", "\tcase protocol.WaitsForDraft, protocol.WaitsForDialog:\n", "\tcase protocol.WaitsForDialog:\n"}),
		narrow("the guardian gives nothing back", "cmd/relay-pty/e2e", "TestGuardianWritesWhatIsOnAndNothingElse",
			Edit{"cmd/relay-pty/tty/tty.go", "guard.Tell(now.Undo())", `guard.Tell("")`}),
		narrow("a chip is typed behind characters of other widths", "cmd/relay-pty/handover", "TestOneTurn",
			Edit{"inject/draft/against.go", "\treturn c.ByColumn && ", "\treturn !c.ByColumn && "}),
		narrow("a program that is slow to start gets lines", "cmd/relay-pty/e2e", "TestNothingIsTypedIntoWhatNobodyDescribed",
			Edit{"cmd/relay-pty/agent/agent.go", "l.Facts.LastOutput.IsZero() && !a.Session.Reads()", "false"}),
		narrow("what a script starts is not looked at", "cmd/relay-pty/e2e", "TestNothingIsTypedIntoWhatNobodyDescribed",
			Edit{"cmd/relay-pty/agent/front.go", "\tfor _, pid := range pids[1:] {\n", "\tfor _, pid := range pids[:0] {\n"}),
		narrow("status does not tell what is being typed", "cmd/relay-pty/e2e", "TestStatusTellsWhatGoesOn",
			Edit{"queue/glance.go", "g.Injecting = it.ID", "continue"}),
		narrow("nobody is warned of a journal that cannot be kept", "cmd/relay-pty/e2e", "TestNoPlaceForTheJournal",
			Edit{"cmd/relay-pty/wrapper.go", "if err := w.ledger.Trouble(); err != nil {", "if err := w.ledger.Trouble(); false && err != nil {"}),
		narrow("a wrapper has no front, so Ctrl-Z stops it", "cmd/relay-pty/e2e", "TestCtrlZLeavesTheSocketAtWork",
			Edit{"pty/term/front_linux.go", "err != nil || !Stoppable() {", "err != nil || true {"}),
		narrow("a number to come is called gone", "cmd/relay-pty/clients", "TestSubscribeReplaysAndFollows",
			Edit{"cmd/relay-pty/clients/clients.go", "errors.Is(why, queue.ErrCursorAhead)", "false"}),
		narrow("a job that cannot stop is not stopped", "pty", "TestStandsInVfork",
			Edit{"pty/process.go", "return s.proc.stopped || s.proc.stands\n", "return s.proc.stopped\n"}),
		narrow("what begins in the background has its shell's own line", "cmd/relay-pty/e2e", "TestBegunInTheBackground",
			Edit{"pty/term/terminal.go", "\t\t\tif t.keyboard {\n", "\t\t\tif false {\n"}),
		narrow("an agent that reads Ctrl-Z late is not waited for", "cmd/relay-pty/tty", "TestNap",
			Edit{"cmd/relay-pty/tty/tty.go", "\tif tty.Unread > 0 {\n", "\tif false {\n"}),
		narrow("a directory that is not there is a lock's trouble", "protocol/own", "TestLockInNoDirectory",
			Edit{"protocol/own/own.go", "\t\tif errors.Is(err, fs.ErrNotExist) {\n\t\t\treturn nil, &PathError{filepath.Dir(path)", "\t\tif false {\n\t\t\treturn nil, &PathError{filepath.Dir(path)"}),
		narrow("a notice comes within a sequence of the agent's", "pty", "TestSignsChangeNothingButTheTitle",
			Edit{"pty/sign.go", "return between && (rest || !open)", "return between || open || !rest"}),
		narrow("a stop that is over stops a job again", "cmd/relay-pty/e2e", "TestStopThatIsOver",
			Edit{"pty/term/guard.go", "[ \"$group\" = \"$front\" ] || halt", "halt"}),
	}
}

func narrow(name, pkg, test string, edits ...Edit) Narrow {
	return Narrow{Sabotage{Name: name, Edits: edits}, pkg, test}
}
