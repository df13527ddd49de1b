package transcript

import (
	"encoding/json"
	"strings"
)

// Argument is one of a tool's arguments, which are a JSON object; "" where that is no text.
func Argument(arguments []byte, name string) (text string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(arguments, &all) == nil {
		json.Unmarshal(all[name], &text) // else it is none
	}
	return text
}

// Talk reports whether a shell's script runs nothing but relay: then it is talk, as what the agent
// writes to others, and no work. A script that is not understood is work.
func Talk(script string) bool {
	s := scanner{rest: script, begins: true}
	for s.rest != "" && !s.work {
		s.next()
	}
	return s.relay && !s.work
}

// scanner goes through a shell's script, from command to command.
type scanner struct {
	rest   string
	begins bool // a command's first word comes next
	docs   []document
	relay  bool // a command is relay
	work   bool // another one is not, or may run more than itself
}

// document is a here-document that comes behind the line.
type document struct {
	end    string
	quoted bool // nothing in it is run
}

// next takes a blank, an operator or a word.
func (s *scanner) next() {
	switch c := s.rest[0]; {
	case c == '\n':
		s.rest, s.begins = s.rest[1:], true
		s.skipDocuments()
	case c == ' ' || c == '\t':
		s.rest = s.rest[1:]
	case strings.IndexByte(";&|", c) >= 0:
		s.rest, s.begins = s.rest[1:], true
	case c == '#':
		_, s.rest, _ = strings.Cut(s.rest, "\n")
		s.begins = true
		s.skipDocuments()
	case strings.HasPrefix(s.rest, "<<<"):
		s.rest = s.rest[3:]
	case strings.HasPrefix(s.rest, "<<"):
		s.rest = strings.TrimLeft(strings.TrimPrefix(s.rest[2:], "-"), " \t")
		quoted := strings.HasPrefix(s.rest, "'") || strings.HasPrefix(s.rest, `"`) || strings.HasPrefix(s.rest, `\`)
		s.docs = append(s.docs, document{s.word(), quoted})
	case c == '<' || c == '>':
		s.redirects()
	case strings.IndexByte("(){}", c) >= 0:
		s.work = true
	default:
		s.command(s.word())
	}
}

// command takes a word, which may name the command that runs.
func (s *scanner) command(word string) {
	name, _, assigns := strings.Cut(word, "=")
	switch {
	case !s.begins || assigns && strings.Trim(name, letters) == "":
	case word == "relay" || strings.HasSuffix(word, "/relay"):
		s.begins, s.relay = false, true
	default:
		s.work = true
	}
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

// redirects takes a redirection. Into a file that holds anything it is work.
func (s *scanner) redirects() {
	out := strings.HasPrefix(s.rest, ">")
	s.rest = strings.TrimLeft(s.rest, "<>|")
	if strings.HasPrefix(s.rest, "(") {
		s.work = true
		return
	}
	s.rest = strings.TrimLeft(s.rest, "& \t")
	if to := s.word(); out && to != "/dev/null" && strings.Trim(to, "0123456789-") != "" {
		s.work = true
	}
}

// word takes a word, without its quotes. What the shell would run for a part of it is work.
func (s *scanner) word() string {
	var word strings.Builder
	quote := byte(0)
	for ; s.rest != ""; s.rest = s.rest[1:] {
		c := s.rest[0]
		switch {
		case quote == '\'' && c != '\'':
		case c == '`' || strings.HasPrefix(s.rest, "$("):
			s.work = true
		case c == '\\' && len(s.rest) > 1:
			s.rest = s.rest[1:]
			c = s.rest[0]
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			continue
		case c == quote:
			quote = 0
			continue
		case quote == 0 && strings.IndexByte(" \t\n;&|<>()", c) >= 0:
			return word.String()
		}
		word.WriteByte(c)
	}
	s.work = s.work || quote != 0
	return word.String()
}

// skipDocuments skips the here-documents that begin on this line.
func (s *scanner) skipDocuments() {
	for _, doc := range s.docs {
		for found := false; s.rest != "" && !found; {
			line, after, _ := strings.Cut(s.rest, "\n")
			found = strings.TrimLeft(line, "\t") == doc.end
			s.work = s.work || !doc.quoted && (strings.Contains(line, "$(") || strings.Contains(line, "`"))
			s.rest = after
		}
	}
	s.docs = nil
}
