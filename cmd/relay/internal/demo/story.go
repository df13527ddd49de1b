package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/protocol"
)

// What is said. A screen would lose a blank and the stars of the review and of the answers.
const (
	wish    = "ask bob to review parser.go"
	request = "please review parser.go"
	review  = "line 12: an error is  *dropped*"
	bobSays = "Bob says: "
	tidy    = "tidy up the old"
	slash   = "/clear" // a command of Claude Code's
	shell   = "!rm -rf " + precious
	done    = "Done."

	precious = "notes.txt" // a file where alice works
)

// answer is what alice answers to a script.
func answer(body string) string { return fmt.Sprintf("I read  `%s`  as *text*", body) }

// drafted is the pattern of a screen whose composer holds that text and no more.
func drafted(text string) string { return `(?m)^[>❯][ \x{a0}]` + regexp.QuoteMeta(text) + `$` }

// These are patterns of alice's screen: what bob says, without Markdown; a question that waits.
const (
	heard = bobSays + `line 12: an error is +\*?dropped\*?`
	asked = `Do you want to proceed\?( \[Y/n\]\s*$|\n)`
)

// check makes a line of the story true, or waits until it is, and may change what is told.
type check func(context.Context, *stage, *line) error

// line says who does what. It is told when its check has passed. A line without a check is a title.
type line struct {
	who, what string
	check     check
}

var story = []line{
	{what: "1. You ask alice for something, and alice asks bob"},
	{"", "alice and bob are ready", ready},
	{"you → alice", wish, types(wish, drafted(wish))},
	{"", "", types("\r", "")},
	{"alice → bob", request, says},
	{"", "delivered, evidence: ", delivered},
	{"bob → alice", review, says},
	{"", "delivered, evidence: ", delivered},
	{"alice → you", "", types("", heard)},
	{what: "2. You are half way through a prompt: messages to alice wait"},
	{"you", tidy, types(tidy, drafted(tidy))},
	{"ci → alice", slash, sends},
	{"ci → alice", shell, sends},
	{"", "both wait for: draft; after a second it stands as you left it", held("draft", drafted(tidy))},
	{"", "the router is killed (kill -9); another one starts and goes on", kills},
	{what: "3. You finish it, and alice asks you something: messages wait"},
	{"you", "logs, Enter", types(" logs", drafted(tidy+" logs"))},
	{"alice → you", "", types("\r", asked)},
	{"", "both wait for: dialog; after a second it still waits for you", held("dialog", asked)},
	{"you", "Enter (Yes)", types("\r", regexp.QuoteMeta(done))},
	{what: "4. The turn is over: both messages are typed in"},
	{"", "delivered, evidence: ", delivered},
	{"alice → ci", answer(slash), says},
	{"alice → ci", answer(shell), says},
	{"", "alice's model read each message once, both of ci in one turn", received},
}

// ready waits for both agents. The title tells enough.
func ready(ctx context.Context, s *stage, l *line) error {
	l.what = ""
	return until(ctx, func() bool {
		agents, err := s.client.Agents(ctx)
		busy := func(a api.Agent) bool { return a.State != protocol.StateReady }
		return err == nil && len(agents) == len(parts) && !slices.ContainsFunc(agents, busy)
	})
}

// types types at alice and waits for a pattern on her screen, which is told where nothing else is.
func types(keys, pattern string) check {
	return func(ctx context.Context, s *stage, l *line) error {
		alice := s.actors["alice"]
		alice.session.Keys([]byte(keys)) // when she has ended, so does the story
		return until(ctx, func() bool {
			screen := alice.shows()
			seen := regexp.MustCompile(pattern).FindStringIndex(screen)
			if seen != nil && l.what == "" {
				l.what = strings.TrimSpace(screen[seen[0]:seen[1]])
			}
			return seen != nil
		})
	}
}

// says waits for the next message, which must be that of the line, word for word.
func says(ctx context.Context, s *stage, l *line) error {
	var mail []api.Message
	err := until(ctx, func() bool { mail = s.mail(ctx); return len(mail) > s.said })
	if err != nil {
		return err
	}
	m := mail[s.said]
	s.said++
	if m.From+" → "+m.To != l.who || m.Body != l.what {
		return fmt.Errorf("%s → %s says %q", m.From, m.To, m.Body)
	}
	return nil
}

// sends sends a script's message.
func sends(ctx context.Context, s *stage, l *line) error {
	if _, err := s.relay(ctx, "send", "alice", l.what, "--from", "ci"); err != nil {
		return err
	}
	return says(ctx, s, l)
}

// delivered waits for the evidence that each message arrived, and tells it.
func delivered(ctx context.Context, s *stage, l *line) error {
	var evidence []string
	err := until(ctx, func() bool {
		evidence = nil
		for i, m := range s.mail(ctx) {
			if s.proved <= i && i < s.said && m.Evidence != "" {
				evidence = append(evidence, m.Evidence)
			}
		}
		return s.proved+len(evidence) == s.said
	})
	s.proved = s.said
	l.what += strings.Join(slices.Compact(evidence), ", ")
	return err
}

// held waits until all messages that were not delivered wait for that reason, and then a second. It
// fails when one of them was typed meanwhile, or when alice's screen lacks the pattern.
func held(reason, pattern string) check {
	return func(ctx context.Context, s *stage, l *line) error {
		goes := func(m api.Message) bool { return m.WaitingFor == nil || *m.WaitingFor != reason || m.Attempt > 0 }
		wait := func() bool {
			queue, err := s.queue(ctx)
			return err == nil && len(queue) == s.said-s.proved && !slices.ContainsFunc(queue, goes)
		}
		if err := until(ctx, wait); err != nil {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !wait() || !regexp.MustCompile(pattern).MatchString(s.screen()) {
			return errors.New("it did not last a second")
		}
		return nil
	}
}

// kills kills the router and waits for the next one.
func kills(ctx context.Context, s *stage, _ *line) error {
	old, err := s.client.Health(ctx)
	if err == nil {
		err = syscall.Kill(old.PID, syscall.SIGKILL)
	}
	if err == nil {
		err = s.startRouter(ctx)
	}
	if err != nil {
		return err
	}
	return until(ctx, func() bool {
		now, err := s.client.Health(ctx)
		return err == nil && now.PID != old.PID
	})
}

// received checks that there were no other messages, that none ran, and what the models of real
// agents read: the human's prompts, each message once, and the script's in one turn.
func received(ctx context.Context, s *stage, l *line) error {
	if mail := s.mail(ctx); len(mail) != s.said {
		return fmt.Errorf("the messages are %+v", mail)
	}
	if _, err := os.Stat(filepath.Join(s.actors["alice"].cwd, precious)); err != nil {
		return fmt.Errorf("a message ran: %w", err)
	}
	for name, want := range map[string]string{
		"alice": wish + "\nbob: " + review + "\n" + tidy + " logs\nci: " + slash + "\n\nci: " + shell,
		"bob":   "alice: " + request,
	} {
		a := s.actors[name]
		if a.api == nil {
			continue
		}
		var turns []string
		for _, t := range a.api.Turns() {
			if text := a.rig.Received(t); text != "" {
				turns = append(turns, envelope.ReplaceAllString(text, "$2: $3"))
			}
		}
		if got := strings.Join(turns, "\n"); got != want {
			return fmt.Errorf("%s's model read %q", name, got)
		}
	}
	if s.actors["alice"].api == nil {
		l.what = ""
	}
	return nil
}

// envelope is a message as an agent reads it: its id, its sender, its body.
var envelope = regexp.MustCompile(`(?s)\[relay (\S+) from ([^\s\]]+)[^\]\n]*\] (.*?)\n\[end [^\n]*`)

// think is both agents' model: it returns what an agent says to a text, which may hold several
// messages, or "" when the agent wants to touch files.
func think(text string) string {
	var says []string
	for _, m := range envelope.FindAllStringSubmatch(text, -1) {
		switch id, from, body := m[1], m[2], m[3]; from {
		case "bob":
			says = append(says, bobSays+body)
		case "alice":
			says = append(says, fmt.Sprintf("->relay:alice [re=%s] <<<%s>>>", id, review))
		default:
			says = append(says, fmt.Sprintf("->relay:%s [re=%s] <<<%s>>>", from, id, answer(body)))
		}
	}
	if strings.TrimSpace(text) == wish {
		says = append(says, "->relay:bob <<<"+request+">>>")
	}
	return strings.Join(says, "\n")
}

// Agent is the built-in agent. It reads lines: a message, which ends with its last line, or a line
// of the human.
func Agent(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	text := "" // of a message that is not whole yet
	for fmt.Fprint(out, "> "); lines.Scan(); {
		if text += lines.Text() + "\n"; text == "\n" {
			text = "" // between the messages of one turn
		}
		if text == "" || strings.HasPrefix(text, "[relay ") && !strings.HasPrefix(lines.Text(), "[end ") {
			continue
		}
		says := think(text)
		if says == "" {
			fmt.Fprint(out, "Do you want to proceed? [Y/n] ")
			lines.Scan() // its error ends the loop
			says = done
		}
		fmt.Fprint(out, says+"\n> ")
		text = ""
	}
	return lines.Err()
}
