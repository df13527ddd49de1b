package shells

import (
	"regexp"
	"slices"
	"strings"
)

// What a human has sent may be the beginning of something, and the prompt then asks for its rest,
// whatever it looks like. These tell, for lines that each end with a newline, whether that is so.
// They know quotes and brackets; where a line is an error that they do not see, they may say that
// something is begun.

// What can be begun in a POSIX shell, beside quotes and brackets by their own sign.
const (
	arithmetic, parameter, loop, branch, choice = 'A', '$', 'l', 'i', 'c'
)

var opens = map[string]rune{
	"for": loop, "while": loop, "until": loop, "select": loop, "if": branch, "case": choice, "{": '{',
}

var closes = map[string]rune{"done": loop, "fi": branch, "esac": choice, "}": '{'}

// leads are words behind which a command begins.
var leads = []string{"do", "then", "else", "elif", "!", "time", "in"}

var (
	wordOf    = regexp.MustCompile(`^[^\s;&|()<>'"\\` + "`" + `$]+`)
	hereDoc   = regexp.MustCompile(`^<<(-?)[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|()<>'"\\])+)`)
	unquoting = strings.NewReplacer("'", "", `"`, "", `\`, "")
)

// posix follows a POSIX shell's text.
type posix struct {
	text    string
	at      int
	open    []rune // innermost last
	heres   []string
	command bool // a command may begin here
	pipe    bool // the last thing was one that another command must follow
	wrong   bool // a word closes what is not open: the shell has given up
}

func posixBegun(text string) bool {
	p := posix{text: text, command: true}
	for p.at < len(p.text) && !p.wrong {
		if strings.HasPrefix(p.text[p.at:], "\\\n") && p.top() != '\'' {
			if p.at += 2; p.at == len(p.text) {
				return true
			}
			continue
		}
		switch p.top() {
		case '\'', '"', '`', parameter, arithmetic, 'p':
			p.inside()
		default:
			p.outside()
		}
	}
	return !p.wrong && (len(p.open) > 0 || len(p.heres) > 0 || p.pipe)
}

func (p *posix) top() rune {
	if len(p.open) == 0 {
		return 0
	}
	return p.open[len(p.open)-1]
}

func (p *posix) push(r rune, n int) { p.open, p.at = append(p.open, r), p.at+n }
func (p *posix) pop(n int)          { p.open, p.at = p.open[:len(p.open)-1], p.at+n }

// inside goes on in quotes, ${…} and $((…)).
func (p *posix) inside() {
	rest, top := p.text[p.at:], p.top()
	switch c := rune(rest[0]); {
	case top == '\'':
		if c == '\'' {
			p.pop(0)
		}
		p.at++
	case c == '\\':
		p.at += min(2, len(rest))
	case top == '"' && c == '"', top == '`' && c == '`', top == parameter && c == '}', top == 'p' && c == ')':
		p.pop(1)
	case top == arithmetic && strings.HasPrefix(rest, "))"):
		p.pop(2)
	case (top == arithmetic || top == 'p') && c == '(':
		p.push('p', 1)
	case top != '"' && c == '\'' && top != arithmetic, c == '"', c == '`':
		p.push(c, 1)
	case c == '$' && p.expands(rest):
	default:
		p.at++
	}
}

// expands takes up an expansion.
func (p *posix) expands(rest string) bool {
	switch {
	case strings.HasPrefix(rest, "$(("):
		p.push(arithmetic, 3)
	case strings.HasPrefix(rest, "$("):
		p.push('(', 2)
		p.command = true
	case strings.HasPrefix(rest, "${"):
		p.push(parameter, 2)
	case strings.HasPrefix(rest, "$'") && p.top() != '"':
		for p.at += 2; p.at < len(p.text) && p.text[p.at] != '\''; p.at++ {
			if p.text[p.at] == '\\' {
				p.at++
			}
		}
		if p.at++; p.at > len(p.text) {
			p.open = append(p.open, '\'')
		}
	default:
		return false
	}
	return true
}

// outside goes on where words are.
func (p *posix) outside() {
	rest := p.text[p.at:]
	word := wordOf.FindString(rest)
	blankBefore := p.at == 0 || strings.ContainsRune(" \t\n;&|(", rune(p.text[p.at-1]))
	switch c := rest[0]; {
	case c == '\n':
		p.at++
		p.command = true
		p.documents()
	case c == '#' && blankBefore:
		p.at += strings.IndexByte(rest, '\n')
	case strings.HasPrefix(rest, "<<<"):
		p.at += 3
	case strings.HasPrefix(rest, "<<") && hereDoc.MatchString(rest):
		m := hereDoc.FindStringSubmatch(rest)
		p.heres = append(p.heres, m[1]+unquoting.Replace(m[2]))
		p.at += len(m[0])
	case c == '$' && p.expands(rest):
	case strings.ContainsRune(" \t", rune(c)):
		p.at++
	case c == '\\':
		p.at, p.command, p.pipe = p.at+min(2, len(rest)), false, false
	case strings.ContainsRune("'\"`", rune(c)):
		p.push(rune(c), 1)
		p.command, p.pipe = false, false
	case strings.HasPrefix(rest, "((") && p.command:
		p.push(arithmetic, 2)
		p.pipe = false
	case strings.HasPrefix(rest, "()"):
		p.at, p.command = p.at+2, true
	case c == '(':
		p.bracket()
	case c == ')':
		if p.at++; p.top() == '(' {
			p.pop(0)
		}
		p.command = p.top() == choice
	case strings.ContainsRune(";&|", rune(c)):
		p.at++
		p.command, p.pipe = true, c == '|' || c == '&' && strings.HasSuffix(p.text[:p.at], "&&")
	case word == "":
		p.at++
	default:
		p.word(word)
	}
}

// bracket opens one that can be there: a subshell, a substitution, a list. Any other is an error.
func (p *posix) bracket() {
	if p.command || p.at > 0 && strings.ContainsRune("=<>", rune(p.text[p.at-1])) {
		p.push('(', 1)
		p.command, p.pipe = true, false
		return
	}
	p.at++
}

func (p *posix) word(word string) {
	p.at, p.pipe = p.at+len(word), false
	switch open, close := opens[word], closes[word]; {
	case p.command && open != 0:
		p.open = append(p.open, open)
		p.command = open == branch || open == loop && word[0] != 'f' && word[0] != 's' || open == '{'
	case p.command && close != 0:
		if p.wrong = p.top() != close; !p.wrong {
			p.pop(0)
		}
		p.command = false
	default:
		p.command = slices.Contains(leads, word) && (p.command || word == "in" && p.top() == choice)
	}
}

// documents takes up the here-documents that begin behind a line.
func (p *posix) documents() {
	for len(p.heres) > 0 {
		line, _, whole := strings.Cut(p.text[p.at:], "\n")
		if !whole {
			p.at = len(p.text)
			return
		}
		p.at += len(line) + 1
		end, tabs := strings.CutPrefix(p.heres[0], "-")
		if tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == end {
			p.heres = p.heres[1:]
		}
	}
}

var (
	pyString = regexp.MustCompile(`^(?:"""(?s:(?:\\.|[^\\])*?)"""|'''(?s:(?:\\.|[^\\])*?)'''|"(?:\\(?s:.)|[^"\\\n])*["\n]|'(?:\\(?s:.)|[^'\\\n])*['\n])`)
	pyBlock  = regexp.MustCompile(`^(?:(?:if|for|while|with|def|class|try|async)\b|@)|:[ \t]*\n`)
)

func pythonBegun(text string) bool {
	depth, rest, bare := 0, text, ""
	for len(rest) > 0 {
		c := rest[0]
		s := pyString.FindString(rest)
		triple := strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, "'''")
		switch {
		case triple && len(s) < 6:
			return true
		case strings.HasPrefix(rest, "\\\n"):
			if rest = rest[2:]; rest == "" {
				return true
			}
			continue
		case c == '#':
			rest = rest[max(0, strings.IndexByte(rest, '\n')):]
			continue
		case s != "":
			if rest = rest[len(s):]; strings.HasSuffix(s, "\n") {
				bare += "\n" // the string was an error
			}
			continue
		case c == '"' || c == '\'':
			return true
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(0, depth-1)
		}
		bare, rest = bare+string(c), rest[1:]
	}
	first, _, _ := strings.Cut(bare, "\n")
	lines := strings.Split(strings.TrimSuffix(bare, "\n"), "\n")
	return depth > 0 || pyBlock.MatchString(first+"\n") && strings.TrimSpace(lines[len(lines)-1]) != ""
}

var (
	sqlText  = regexp.MustCompile("^(?:'(?:[^'])*'|\"[^\"]*\"|`[^`]*`" + `|--[^\n]*\n|/\*(?s:.*?)\*/|(?s:\$\$.*?\$\$))`)
	sqlBegin = regexp.MustCompile("^(?:['\"`]|/\\*|\\$\\$)")
	sqlDot   = regexp.MustCompile(`^[ \t]*(?:\.|(?i:help|quit|exit)[ \t;]*\n)[^\n]*\n?`)
	sqlSlash = regexp.MustCompile(`^\\(\w*)[^\n]*\n`)
	sqlSends = regexp.MustCompile(`^(?:g|r|crosstabview|watch)`)
)

func sqlBegun(text string) bool {
	depth, begun := 0, false
	for rest := text; len(rest) > 0; {
		dot, slash := sqlDot.FindString(rest), sqlSlash.FindStringSubmatch(rest)
		comment := strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*")
		switch s := sqlText.FindString(rest); {
		case !begun && dot != "" && (len(rest) == len(text) || text[len(text)-len(rest)-1] == '\n'):
			rest = rest[len(dot):]
		case s != "":
			rest, begun = rest[len(s):], begun || !comment
		case sqlBegin.MatchString(rest):
			return true
		case slash != nil:
			rest, begun = rest[len(slash[0]):], begun && !sqlSends.MatchString(slash[1])
		default:
			depth = max(0, depth+strings.Count(rest[:1], "(")-strings.Count(rest[:1], ")"))
			if rest[0] == ';' && depth == 0 {
				begun = false
			} else if strings.TrimSpace(rest[:1]) != "" {
				begun = true
			}
			rest = rest[1:]
		}
	}
	return begun
}
