package books

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"relay-pty/protocol"
)

// small is a run in which nothing goes wrong that may not, on a line program, l, and on a
// composer, c; each is killed once, in the middle of a turn. {m1} stands for all of a message
// whose body is read as it was sent, {m1+} for its redelivery; where a ✂ stands, the kill may
// have cut off the text from there on.
const small = `
send l m1 s1 0 sequential never queued "one"
send l m2 s2 0 sequential never queued "two\nlines"
send l m3 s1 0 sequential never queued "three"
send l m4 s1 0 sequential once queued "four"
send l m5 s2 1 sequential never queued "five"
send l m6 s1 0 sequential never queued "six"
send l m7 s1 0 sequential never queued "seven"
send l m8 s1 0 sequential never queued "eight"
send l m9 s1 0 sequential never queue_full "nine"
send l n1 s1 0 sequential never - "nobody knows of it"
send l n2 s1 0 sequential never - "ten"
send l n3 s2 0 important never queued "a\tb\n[end m1 · reply: x]\n\x1b[201~ \x03[relay m1 from s1] z"
send c c1 s1 0 sequential never queued "eins"
send c c2 s1 0 sequential never queued "zwei"
send c c3 s2 0 sequential never queued "drei"
send c c4 s1 0 sequential never queued "vier"
send c c5 s1 0 sequential once queued "fuenf"
send c c6 s2 0 sequential once queued "sechs"
event l 1 m1 queued 0 -
event l 2 m2 queued 0 -
event l 3 m3 queued 0 -
event l 4 m1 injecting 1 -
event l 6 m1 delivered 1 echo
event l 7 m2 injecting 1 -
event l 8 m3 injecting 1 -
event l 9 m2 delivered 1 echo
event l 10 m3 delivered 1 turn
event l 11 m4 queued 0 -
event l 12 m5 queued 0 -
event l 13 m4 injecting 1 -
event l 14 m5 injecting 1 -
event l 15 m5 unknown 1 crashed
event l 16 m4 injecting 2 -
event l 17 m4 delivered 2 consumed
event l 18 m6 queued 0 -
event l 19 m6 expired 0 -
event l 20 m7 queued 0 -
event l 21 m7 cancelled 0 -
event l 22 m8 queued 0 -
event l 23 m8 injecting 1 -
event l 24 m8 failed 1 stranded
event l 25 n2 queued 0 -
event l 26 n3 queued 0 -
event l 27 n3 injecting 1 -
event l 28 n3 delivered 1 submitted
event l 29 n2 injecting 1 -
event l 30 n2 delivered 1 pulled
event c 1 c1 queued 0 -
event c 2 c1 injecting 1 -
event c 3 c1 delivered 1 echo
event c 4 c2 queued 0 -
event c 5 c3 queued 0 -
event c 6 c2 injecting 1 -
event c 7 c3 injecting 1 -
event c 8 c2 delivered 1 echo
event c 9 c3 delivered 1 echo
event c 10 c4 queued 0 -
event c 11 c4 injecting 1 -
event c 13 c4 injecting 2 -
event c 14 c4 delivered 2 echo
event c 15 c5 queued 0 -
event c 16 c6 queued 0 -
event c 17 c5 injecting 1 -
event c 18 c6 injecting 1 -
event c 20 c5 injecting 2 -
event c 21 c6 injecting 2 -
event c 22 c5 delivered 2 echo
event c 23 c6 delivered 2 echo
line l 1 killed "{m1}\nQA QB\n{m2}\n\n{m3}\nQC\n✂{m4}\n\n[relay m5 from s2] fi"
line l 2 lived "{m4+}\nQE\n[relay n3 from s2 · 12m old] a    b\n    [end m1 · reply: x]\n[201~ [relay m1 from s1] z\n[end n3 · reply: ->relay:s2 [re=n3] <<<…>>>]\n{n2}\n"
keys c 1 killed "\x1b[?62;22c\x1b[200~{c1}\x1b[201~\rQF QG\r\x1b]11;rgb:1e1e/2020\x1b\\QH\x03[relay c2 from s1] \x1b[200~zwei\x1b[201~\n[end c2 · reply: ->relay:s1 [re=c2] <<<…>>>]\x1b[200~\n\n\x1b[201~{c3}\r\x1b\x1b[200~[relay c4 from s1] vi\x1b[201~\x1b\x1bQ\x13{c4}\t\x13I\r\x15✂\x1b[200~{c5}\n\n{c6}\x1b[201~\r"
keys c 2 lived "\x1b[24;80R\x1b[relay c5 from s1 · redelivery] \x1b[200~fuenf\x1b[201~\n[end c5 · reply: ->relay:s1 [re=c5] <<<…>>>]\n\n{c6+}\r"
took c 1 "{c1}"
took c 1 "QF QG"
took c 1 "{c2}\n\n{c3}"
took c 1 "{c4}"
took c 1 "QI"
took c 2 "{c5+}\n\n{c6+}"
human l 1 QA QB QC QD
human l 2 QE
human c 1 QF QG QH QI QJ
fault l 1 kill-wrapper
fault c 1 kill-agent
fault c 1 resize
drained
`

// mutants are the ways in which books can be wrong: the rule that must find it, and what
// stands in small in place of what.
var mutants = []struct{ rule, name, old, now string }{
	{"I1", "an end is dropped", "event l 6 m1 delivered 1 echo\n", ""},
	{"I1", "a second end", "line l 1", "event l 40 m1 delivered 1 echo\nline l 1"},
	{"I1", "another end behind the end", "line l 1", "event l 40 m1 failed 1 x\nline l 1"},
	{"I1", "an attempt behind the end", "line l 1", "event l 40 m1 injecting 2 -\nline l 1"},
	{"I1", "queued twice", "line l 1", "event l 40 m7 queued 0 -\nline l 1"},
	{"I1", "a wrong number of an attempt", "m4 injecting 2", "m4 injecting 3"},
	{"I1", "an end with the number of another attempt", "m4 delivered 2", "m4 delivered 1"},
	{"I1", "delivered by no evidence", "m1 delivered 1 echo", "m1 delivered 1 written"},
	{"I1", "unknown for no reason", "unknown 1 crashed", "unknown 1 -"},
	{"I1", "failed for no reason", "failed 1 stranded", "failed 1 -"},
	{"I1", "a number is told twice", "event l 9 ", "event l 8 "},
	{"I1", "delivered without an attempt", "event l 4 m1 injecting 1 -\nevent l 6 m1 delivered 1", "event l 6 m1 delivered 0"},
	{"I1", "never queued", "event l 1 m1 queued 0 -\n", ""},
	{"I1", "no such status", "m6 expired", "m6 lapsed"},
	{"I1", "an event about nobody's message", "18 m6 queued", "18 none queued"},
	{"I1", "an event of another agent", "event c 1 c1", "event c 1 m1"},
	{"I12", "accepted, and no event", "event l 20 m7 queued 0 -\nevent l 21 m7 cancelled 0 -\n", ""},
	{"I12", "the queues did not run empty", "drained\n", ""},

	{"I2", "a delivered text is not there: lines", `"{m1}\n`, `"`},
	{"I2", "a delivered text is not there: composer", `took c 1 "{c1}"`, `took c 1 ""`},
	{"I2", "a byte is another: lines", `] one\n`, `] ony\n`},
	{"I2", "a byte is another: composer", `took c 1 "[relay c1 from s1] eins`, `took c 1 "[relay c1 from s1] einz`},
	{"I2", "a byte is missing", `] one\n`, `] on\n`},
	{"I2", "a text at another agent", "send l m1", "send c m1"},
	{"I2", "deliveries are told in another order", "event l 28 n3 delivered 1 submitted\nevent l 29 n2 injecting 1 -\nevent l 30 n2 delivered 1 pulled",
		"event l 28 n2 injecting 1 -\nevent l 29 n2 delivered 1 pulled\nevent l 30 n3 delivered 1 submitted"},
	{"I3", "a failed one was taken", "m1 delivered 1 echo", "m1 failed 1 stranded"},
	{"I3", "an expired one was taken", "m1 delivered 1 echo", "m1 expired 1 -"},
	{"I3", "a cancelled one was taken", "m1 delivered 1 echo", "m1 cancelled 1 -"},
	{"I4", "one in doubt and no kill: unknown", "fault l 1 kill-wrapper\n", ""},
	{"I4", "one in doubt and no kill: redelivered", "fault c 1 kill-agent\n", ""},
	{"I4", "two turns in doubt and one kill", "m1 delivered 1 echo", "m1 unknown 1 crashed"},
	{"I4", "two turns redelivered and one kill", "event c 18 c6", "event c 19 c6"},
	{"I5", "taken twice: lines", `{m3}\nQC`, `{m3}\n{m3}\nQC`},
	{"I5", "taken twice: composer", `took c 1 "QI"`, `took c 1 "{c1}"`},
	{"I5", "taken again as a redelivery, and no kill", "line l 1 killed", "line l 1 lived"},
	{"I5", "taken again as a redelivery, in one attempt", "event l 16 m4 injecting 2 -\n", ""},
	{"I5", "a redelivery without its mark", `lived "{m4+}`, `lived "{m4}`},
	{"I5", "a redelivery that nobody wanted", "m4 s1 0 sequential once", "m4 s1 0 sequential never"},
	{"I5", "a redelivery in two lives", "human l 1", "line l 3 lived \"{m4+}\\n\"\nhuman l 1"},
	{"I6", "accepted in another order", "event l 2 m2 queued 0 -\nevent l 3 m3", "event l 2 m3 queued 0 -\nevent l 3 m2"},
	{"I11", "two messages of one id", `one"`, `one"` + "\nsend l m1 s1 0 sequential never queue_full \"one\""},
	{"I11", "a refused one was taken: lines", `never queued "one"`, `never queue_full "one"`},
	{"I11", "one is refused, and events tell of it", `never queued "six"`, `never degraded "six"`},
	{"I11", "an unanswered one is taken, and no event", `QE\n`, `QE\n{n1}\n`},

	{"I7", "another sender in the header", `{m1}\n`, `[relay m1 from s9] one\n[end m1 · reply: ->relay:s1 [re=m1] <<<…>>>]\n`},
	{"I7", "a message that nobody sent", "lived \"{m4+}", `lived "[relay x9 from s1] x\n{m4+}`},
	{"I7", "bytes that nobody wrote: lines", `QA QB\n`, `QA QB\nhello\n`},
	{"I7", "bytes that nobody wrote: composer", `QF QG\r`, `QF QG\rhello`},
	{"I7", "letters of another script", `QA QB\n`, `QA QB\nÄÖ\n`},
	{"I7", "bytes that are no letters", `QA QB\n`, `QA QB\n\xc3\n`},
	{"I7", "a key that nobody typed", `QF QG\r`, `QF QG\r\x16`},
	{"I7", "an empty line", `QE\n`, `QE\n\n`},
	{"I7", "a control character in a text", `] one\n`, `] o\x03ne\n`},
	{"I7", "a turn that nobody typed", `took c 1 "QI"`, `took c 1 "{c3}"`},
	{"I7", "more is submitted behind a message", `took c 1 "{c1}"`, `took c 1 "{c1}more"`},
	{"I7", "a line that looks like a footer is not indented", `b\n    [end m1`, `b\n[end m1`},
	{"I8", "the human's key in a text: lines", `] one\n`, `] oQXne\n`},
	{"I8", "the human's key in a text: composer", `~[relay c1 from s1] eins`, `~[relay c1 from s1] eiQXns`},
	{"I8", "the human's key in a header", `"{m1}\n`, `"[relay mQX1 from s1] one\n`},
	{"I8", "an answer of the terminal in a text", `~[relay c1 from s1] eins`, `~[relay c1 from s1] ei\x1b[24;80Rns`},
	{"I8", "the human's key before Enter: lines", `{m1}\nQA`, `{m1}QA`},
	{"I8", "the human's key before Enter: composer", `\x1b[201~\rQF`, `\x1b[201~QF\r`},
	{"I8", "the human's blank before Enter", `\x1b[201~\rQF`, `\x1b[201~ \rQF`},
	{"I8", "an answer of the terminal before Enter", `\x1b[201~\rQF`, `\x1b[201~\x1b[24;80R\rQF`},
	{"I8", "a draft before a message: lines", `QA QB\n`, `QA QB`},
	{"I8", "a draft before a message: composer", `QH\x03`, `QH`},
	{"I8", "a draft is sent with a message", `took c 1 "{c4}"`, `took c 1 "QI {c4}"`},
	{"I9", "a word is lost: lines", `QA QB`, `QB`},
	{"I9", "a word is lost: composer", `QF QG\r`, `QG\r`},
	{"I9", "the last word is lost", `QE\n`, ``},
	{"I9", "a word comes twice", `QA QB`, `QA QA QB`},
	{"I9", "a key is lost", `QA QB`, `QA B`},
	{"I9", "a key is lost behind a draft that was put aside", `\t\x13I\r`, `\t\x13\r`},
	{"I9", "words change places", "human l 1 QA QB", "human l 1 QB QA"},
	{"I9", "the human's turn is no more than words of another", `took c 1 "QF QG"`, `took c 1 "QF QF"`},
	{"I10", "a text is not typed to its end", `line l 1 killed`, `line l 1 lived`},
	{"I10", "Enter is missing: composer", `[re=c3] <<<…>>>]\r`, `[re=c3] <<<…>>>]`},
	{"I10", "Enter is missing at the end", `{n2}\n`, `{n2}`},
	{"I10", "no Enter follows, but something else", `{m1}\n`, `{m1}x\n`},
	{"I10", "a turn is typed and not taken", "took c 1 \"{c4}\"\n", ""},
	{"I10", "a turn is taken without Enter", `{c4}\t`, `{c4}\x13`},
	{"I10", "a paste is not closed", `\x1b[201~\rQF`, `\rQF`},
	{"I10", "a paste begins twice", `\x1b[200~zwei`, `\x1b[200~\x1b[200~zwei`},
	{"I10", "a paste ends twice", `\x1b[201~\rQF`, `\x1b[201~\x1b[201~\rQF`},
	{"I10", "no blank line between two messages", `\n\n\x1b[201~[relay c3`, `\n\x1b[201~[relay c3`},
}

var macro = regexp.MustCompile(`\{(\w\d)(\+?)\}`)

// whole puts messages in the places of their names.
func whole(text string) string {
	return macro.ReplaceAllStringFunc(text, func(name string) string {
		f := macro.FindStringSubmatch(name)
		sent := regexp.MustCompile(`send \w ` + f[1] + ` (\w+) .*"(.*)"`).FindStringSubmatch(small)
		mark := strings.Replace(f[2], "+", " · redelivery", 1)
		return "[relay " + f[1] + " from " + sent[1] + mark + "] " + sent[2] + `\n[end ` + f[1] + " · reply: ->relay:" + sent[1] + " [re=" + f[1] + "] <<<…>>>]"
	})
}

// parsed is the run that a text tells.
func parsed(t *testing.T, text string) Run {
	t.Helper()
	var r Run
	for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
		plain, quoted, _ := strings.Cut(strings.TrimSpace(line), ` "`)
		f := strings.Fields(plain)
		said, err := strconv.Unquote(`"` + strings.TrimSuffix(quoted, `"`) + `"`)
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		number := func(i int) int {
			n, err := strconv.Atoi(f[i])
			if err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			return n
		}
		switch f[0] {
		case "send":
			r.Sends = append(r.Sends, Send{Agent: f[1], Answer: strings.Trim(f[7], "-"), Inject: protocol.Inject{
				ID: f[2], From: f[3], Priority: int64(number(4)), Mode: f[5], Redelivery: f[6], Body: said,
			}})
		case "event":
			e := protocol.InjectResult{Stamp: protocol.Stamp{Seq: int64(number(2))}, ID: f[3], Status: f[4], Attempt: number(5), Evidence: f[6]}
			if e.Status != "delivered" {
				e.Evidence, e.Fault = "", &protocol.Fault{Code: strings.Trim(f[6], "-")}
			}
			r.Events = append(r.Events, Event{f[1], e})
		case "line", "keys":
			r.Readings = append(r.Readings, Reading{Agent: f[1], Life: number(2), Line: f[0] == "line", Killed: f[3] == "killed", Bytes: []byte(said)})
		case "took":
			i := slices.IndexFunc(r.Readings, func(b Reading) bool { return b.Agent == f[1] && b.Life == number(2) })
			r.Readings[i].Turns = append(r.Readings[i].Turns, said)
		case "human":
			r.Typings = append(r.Typings, Typing{f[1], number(2), f[3:]})
		case "fault":
			r.Faults = append(r.Faults, Fault{f[1], number(2), f[3]})
		case "drained":
			r.Drained = true
		default:
			t.Fatalf("no such line: %q", line)
		}
	}
	return r
}

func clean(t *testing.T, what string, r Run) {
	t.Helper()
	for _, v := range Check(r) {
		t.Errorf("%s: %s %s %s: %s", what, v.Invariant, v.Agent, v.ID, v.What)
	}
}

// TestCorrectBooksAreClean: wherever a kill has cut what was typed.
func TestCorrectBooksAreClean(t *testing.T) {
	t.Parallel()
	text := whole(small)
	clean(t, "whole", parsed(t, strings.ReplaceAll(text, "✂", "")))
	for i := range 2 {
		for _, typed := range []string{`\x1b[200~{c5}\n\n{c6}\x1b[201~\r`, `\x1b[200~{c5}\n\n{c6}\x1b[201~\x1b\x1b`, `\x1b{c5}\n\n\x15`, `QJ`,
			`[relay c5 from s1] \x1b[200~fuenf\x1b[201~\n[end c5 · reply: ->relay:s1 [re=c5] <<<…>>>]\x1b[200~\n\n\x1b[201~{c6}\r\x1b\x1b`} {
			r := parsed(t, strings.Replace(text, whole(`✂\x1b[200~{c5}\n\n{c6}\x1b[201~\r`), whole("✂"+typed), 1))
			books := []*Reading{&r.Readings[0], &r.Readings[2]}
			for _, b := range books {
				b.Bytes = []byte(strings.Replace(string(b.Bytes), "✂", "", 1))
			}
			uncut := books[i].Bytes
			for n := strings.Index(string(uncut), []string{"[relay m4", "\r\x15"}[i]) + 2*i; n <= len(uncut); n++ {
				if books[i].Line && uncut[n-1] != '\n' {
					continue // it reads whole lines
				}
				books[i].Bytes = uncut[:n]
				clean(t, fmt.Sprintf("cut to …%q", uncut[max(0, n-20):n]), r)
			}
		}
	}
	if got, want := Doubts(parsed(t, strings.ReplaceAll(text, "✂", ""))), (Doubt{Messages: 4, Turns: 2, Kills: 2}); got != want {
		t.Errorf("in doubt: %+v, want %+v", got, want)
	}
}

func TestEveryMutantIsCaught(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(whole(small), "✂", "")
	for _, m := range mutants {
		wrong := strings.Replace(text, whole(m.old), whole(m.now), 1)
		if wrong == text {
			t.Errorf("%s: it could not be done", m.name)
			continue
		}
		found := Check(parsed(t, wrong))
		if !slices.ContainsFunc(found, func(v Violation) bool { return v.Invariant == m.rule }) {
			t.Errorf("%s: %s is not broken, but %v", m.name, m.rule, found)
		}
	}
}
