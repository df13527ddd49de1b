package protocol

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	maxName = 64
	maxHost = 253 // longest DNS name
	maxID   = 128
)

// ValidName says why name cannot be an agent's NAME, or nil when it can:
// [A-Za-z0-9][A-Za-z0-9_.-]{0,63}, and not a reserved word.
func ValidName(name string) error {
	if err := wellFormed(name, maxName); err != nil {
		return fmt.Errorf("name %w", err)
	}
	if bare := strings.TrimRight(name, "_.-"); slices.Contains(reserved, LooksLike(bare)) {
		return fmt.Errorf("name %s is reserved, or looks like one that is", name)
	}
	return nil
}

// reserved are the names that no agent may have, as they look.
var reserved = []string{"relay", "human", "self", "any", "room"}

// LooksLike is s with the letters and digits of ASCII that are mistaken for one another as one:
// in small letters, I, 1, i and | as l, 0 as o, rn as m, vv as w, cl as d. Two texts that look
// alike are the same then.
func LooksLike(s string) string { return mistaken.Replace(strings.ToLower(s)) }

var mistaken = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "i", "l", "1", "l", "|", "l", "0", "o")

// ValidFrom says why from cannot name a sender: NAME or NAME@HOST, where relay (the
// router's notices) and human are senders too; self, any and room name nobody.
func ValidFrom(from string) error {
	name, host, hasHost := strings.Cut(from, "@")
	if name != "relay" && name != "human" {
		if err := ValidName(name); err != nil {
			return err
		}
	}
	if !hasHost {
		return nil
	}
	return validHost(host)
}

func validHost(host string) error {
	if err := wellFormed(host, maxHost); err != nil {
		return fmt.Errorf("host %w", err)
	}
	return nil
}

// ValidTarget says why to cannot be whom a message goes to: NAME, NAME@HOST, #channel
// or *. Which of them exist, and what the reserved names mean, is the router's business.
func ValidTarget(to string) error {
	if to == "*" {
		return nil
	}
	if channel, ok := strings.CutPrefix(to, "#"); ok {
		return wellFormed(channel, maxName)
	}
	name, host, hasHost := strings.Cut(to, "@")
	if err := wellFormed(name, maxName); err != nil || !hasHost {
		return err
	}
	return validHost(host)
}

// ValidOptionalID is ValidID, but for an empty one, which is none.
func ValidOptionalID(id string) error {
	if id == "" {
		return nil
	}
	return ValidID(id)
}

// ValidRecipient says why nobody on this machine can be whom a message goes to: NAME, human,
// #channel or *.
func ValidRecipient(to string) error {
	if to == "human" || to == "*" || strings.HasPrefix(to, "#") {
		return ValidTarget(to)
	}
	return ValidName(to)
}

// ValidCommand says why body cannot be typed as a command: it is typed as it is, so it
// must be one line without control characters. None is removed in silence.
func ValidCommand(body string) error {
	if strings.ContainsFunc(body, unicode.IsControl) {
		return fmt.Errorf("a command must be one line without control characters")
	}
	return nil
}

// ValidMode says why mode is none of [Modes].
func ValidMode(mode string) error {
	if !slices.Contains(Modes(), mode) {
		return fmt.Errorf("must be one of %s", strings.Join(Modes(), ", "))
	}
	return nil
}

// ValidID says why id cannot be an id, thread or reply_to: [A-Za-z0-9_.:-]{1,128}.
func ValidID(id string) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("must have 1 to %d characters", maxID)
	}
	for i := range len(id) {
		if !isNameByte(id[i]) && id[i] != ':' {
			return fmt.Errorf("may hold only letters, digits and _ . : -")
		}
	}
	return nil
}

func wellFormed(s string, most int) error {
	if s == "" || len(s) > most {
		return fmt.Errorf("must have 1 to %d characters", most)
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return fmt.Errorf("may hold only letters, digits and _ . -")
		}
	}
	if strings.IndexByte("_.-", s[0]) >= 0 {
		return fmt.Errorf("must begin with a letter or digit")
	}
	return nil
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}
