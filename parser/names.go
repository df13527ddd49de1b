package parser

import "strings"

// ValidID says whether s is an id: 1 to 128 letters, digits and _ . : -
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) && s[i] != ':' {
			return false
		}
	}
	return true
}

// The longest names of agents and hosts; the latter is that of the DNS.
const (
	maxName = 64
	maxHost = 253
)

// ValidName says whether s is the name of an agent: a letter or digit, then at
// most 63 letters, digits and _ . -
func ValidName(s string) bool { return validWord(s, maxName) }

func validWord(s string, most int) bool {
	if len(s) == 0 || len(s) > most || strings.IndexByte("_.-", s[0]) >= 0 {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}

// validTarget says whether s is NAME, NAME@HOST, #channel or *. Which of them
// exist, and which are reserved, is the router's business.
func validTarget(s string) bool {
	if channel, ok := strings.CutPrefix(s, "#"); ok {
		return ValidName(channel)
	}
	name, host, remote := strings.Cut(s, "@")
	return s == "*" || ValidName(name) && (!remote || validWord(host, maxHost))
}

func validMode(s string) bool {
	return s == "sequential" || s == "important" || s == "urgent"
}

func nameByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == '.' || c == '-'
}
