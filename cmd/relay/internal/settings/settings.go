// Package settings reads what a user may set once for all: in the environment, or else in a file.
// Flags, which come before both, are their commands' own.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"relay-pty/cmd/relay/internal/near"
	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/protocol/regular"
)

// Settings are what is set, or the defaults.
type Settings struct {
	DefaultTimeout   time.Duration // of a message for which none is given; 0: none
	DirectExpiry     time.Duration // of a message to an agent that does not run, without a timeout of its own; 0: none
	Age              time.Duration // how long the log keeps an event …
	Bytes            int64         // … and how much of it
	AllowAgentDirect bool          // agents may write to agents
	AllowUrgent      []string      // who may interrupt an agent
	PairLimit        int           // messages a minute from one sender to one recipient; 0: as many as they like
	MaxHops          int           // turns of nothing but talk in a row, after which a chain is paused
	MaxChain         int           // messages of agents, after which it is
	DraftTimeout     string        // relay-pty's --draft-timeout; "": its own default
	BatchMax         string        // relay-pty's --batch-max; "": its own default
	HTTPAddr         string        // where the API is served over TCP, too; "": nowhere
}

func defaults() Settings {
	return Settings{
		DirectExpiry: 5 * time.Minute, Age: 30 * 24 * time.Hour, Bytes: 1 << 30, AllowAgentDirect: true, AllowUrgent: []string{"human"},
		PairLimit: 30, MaxHops: 8, MaxChain: 500,
	}
}

// setting is one of them. Its value comes as text, a list with commas between its parts.
type setting struct {
	name string
	kind kind
	def  string // the default, as it would stand in the file
	says string
	set  func(s *Settings, value string) error
}

// kind is what a setting's value can be: in words, and an example as it stands in the file.
type kind struct{ words, example string }

var (
	aDuration  = kind{"a duration is written in quotes, with a unit", `"5m"`}
	aSize      = kind{"an age, a size or both are written in quotes", `"30d,1GiB"`}
	aBool      = kind{"it is true or false, without quotes", "true"}
	aList      = kind{"names are written in quotes, between brackets", `["human", "ci"]`}
	aNumber    = kind{"a number is written without quotes", "10"}
	anAddress  = kind{"an address is written in quotes", `"127.0.0.1:7777"`}
	unset      = "none"
	wrapperOwn = "that of relay-pty"
)

var all = []setting{
	{"default_timeout", aDuration, `"0"`, "how long a message without a --timeout waits to be delivered; 0: for ever",
		func(s *Settings, v string) (err error) { s.DefaultTimeout, err = Duration(v); return err }},
	{"dm_expiry", aDuration, `"5m"`, "how long a message to one agent that does not run waits for it; 0: for ever",
		func(s *Settings, v string) (err error) { s.DirectExpiry, err = Duration(v); return err }},
	{"retain", aSize, `"30d,1GiB"`, "how long the router keeps events, and how much of them", retain},
	{"allow_agent_direct", aBool, "true", "whether agents may write to agents", func(s *Settings, v string) (err error) {
		if s.AllowAgentDirect, err = strconv.ParseBool(v); err != nil {
			err = fmt.Errorf("%q is neither true nor false", v)
		}
		return err
	}},
	{"allow_urgent", aList, `["human"]`, "who may interrupt agents", func(s *Settings, v string) error {
		s.AllowUrgent = list(v)
		for _, name := range s.AllowUrgent {
			if err := protocol.ValidFrom(name); err != nil {
				return err
			}
		}
		return nil
	}},
	{"pair_limit", aNumber, "30", "how many messages a minute one sender may send to one recipient; 0: as many as it likes",
		func(s *Settings, v string) (err error) {
			if s.PairLimit, err = strconv.Atoi(v); err != nil || s.PairLimit < 0 {
				return fmt.Errorf("%q is no number from 0 on", v)
			}
			return nil
		}},
	{"max_hops", aNumber, "8", "after how many turns of nothing but talk in a row a chain is paused", func(s *Settings, v string) (err error) {
		s.MaxHops, err = positive(v)
		return err
	}},
	{"max_chain", aNumber, "500", "after how many messages of agents a chain is paused", func(s *Settings, v string) (err error) {
		s.MaxChain, err = positive(v)
		return err
	}},
	{"draft_timeout", aDuration, wrapperOwn, "how long a draft must be unchanged to be set aside for messages; 0: never", func(s *Settings, v string) error {
		d, err := Duration(v)
		s.DraftTimeout = d.String() // relay-pty knows no days
		return err
	}},
	{"batch_max", aNumber, wrapperOwn, "how many messages are typed as one turn at most", func(s *Settings, v string) error {
		s.BatchMax = v
		_, err := positive(v)
		return err
	}},
	{"http_addr", anAddress, unset, "where the router serves its API over TCP, too, on this machine alone", func(s *Settings, v string) error {
		s.HTTPAddr = v
		_, err := Loopback(v)
		return err
	}},
}

// positive reads a number from 1 on.
func positive(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number from 1 on", v)
	}
	return n, nil
}

// Path is the file: $XDG_CONFIG_HOME/relay/config.toml, else ~/.config/relay/config.toml. It need
// not be there.
func Path() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := own.HomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for settings: %w: set XDG_CONFIG_HOME", err)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "relay", "config.toml"), nil
}

// maxFile is the longest file of settings, in bytes.
const maxFile = 1 << 20

// Load reads the settings. An error says where the value stands that is none.
func Load() (Settings, error) {
	s := defaults()
	path, err := Path()
	if err != nil {
		return s, err
	}
	text, err := regular.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("read settings: %w", err)
	}
	if err := s.file(string(text)); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, s.environment(os.LookupEnv)
}

// file takes the values of a file.
func (s *Settings) file(text string) error {
	var values map[string]any
	_, err := toml.Decode(text, &values)
	var wrong toml.ParseError
	if errors.As(err, &wrong) {
		return slip(text, wrong)
	}
	if err != nil {
		return err
	}
	for name, value := range values {
		o, err := named(name)
		if err != nil {
			return err
		}
		err = o.set(s, asText(value))
		if _, quoted := value.(string); err != nil && !quoted && o.kind == aDuration {
			err = fmt.Errorf("%w; %s: %s = %s", err, o.kind.words, name, o.kind.example)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// slip tells of a file that is no TOML: where a setting's value is at fault, what was written and
// what is possible, else what the library says.
func slip(text string, wrong toml.ParseError) error {
	lines := strings.Split(text, "\n")
	line := strings.TrimSpace(lines[min(max(wrong.Position.Line, 1), len(lines))-1])
	name, value, pair := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	o, err := named(name)
	switch {
	case !pair || strings.ContainsAny(name, "[\"'# "):
		return fmt.Errorf("line %d: %s", wrong.Position.Line, wrong.Message)
	case err != nil:
		return fmt.Errorf("line %d: %w", wrong.Position.Line, err)
	case strings.Contains(wrong.Message, "already been defined"):
		return fmt.Errorf("line %d: %s is set twice", wrong.Position.Line, name)
	}
	if value == "" {
		value = "nothing"
	}
	return fmt.Errorf("line %d: %s is %s: %s: %s = %s", wrong.Position.Line, name, value, o.kind.words, name, o.kind.example)
}

// named is the setting of that name.
func named(name string) (setting, error) {
	i := slices.IndexFunc(all, func(o setting) bool { return o.name == name })
	if i >= 0 {
		return all[i], nil
	}
	if like := near.Names(name, names()); len(like) > 0 {
		return setting{}, fmt.Errorf("there is no setting %s: did you mean %s?", name, strings.Join(like, " or "))
	}
	return setting{}, fmt.Errorf("there is no setting %s; there are %s", name, strings.Join(names(), ", "))
}

// Help is a page about all settings.
func Help() string {
	var b strings.Builder
	b.WriteString(`Settings stand in ~/.config/relay/config.toml ($XDG_CONFIG_HOME/relay/config.toml), one a line, or in
the environment, behind RELAY_ and in capitals (RELAY_DM_EXPIRY=5m, without quotes). A flag comes
before the environment, and that before the file. The router reads them when it starts, each other
command when it runs. relay doctor tells what is wrong with them.
`)
	for _, o := range all {
		fmt.Fprintf(&b, "\n  %-18s %s\n  %-18s default %s; for example: %s = %s\n", o.name, o.says, "", o.def, o.name, o.kind.example)
	}
	return strings.TrimRight(b.String(), "\n")
}

// environment takes the values of variables, which have the settings' names in capitals behind
// RELAY_.
func (s *Settings) environment(lookup func(string) (string, bool)) error {
	for _, o := range all {
		name := "RELAY_" + strings.ToUpper(o.name)
		value, set := lookup(name)
		if !set || value == "" {
			continue
		}
		if err := o.set(s, value); err != nil {
			return fmt.Errorf("$%s: %w", name, err)
		}
	}
	return nil
}

func names() (list []string) {
	for _, o := range all {
		list = append(list, o.name)
	}
	return list
}

// asText is a value of a file as it would stand in a variable.
func asText(value any) string {
	items, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var parts []string
	for _, item := range items {
		parts = append(parts, fmt.Sprint(item))
	}
	return strings.Join(parts, ",")
}

func list(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
}

// retain is an age, a size, or both.
func retain(s *Settings, v string) error {
	parts := list(v)
	for _, part := range parts {
		if n, err := size(part); err == nil {
			s.Bytes = n
		} else if s.Age, err = Duration(part); err != nil || s.Age == 0 {
			return fmt.Errorf("%q is neither an age, as 30d, nor a size, as 1GiB", part)
		}
	}
	if len(parts) == 0 {
		return errors.New("it is empty; 30d,1GiB is the default")
	}
	return nil
}

// Loopback is the address at which the API may be served over TCP: a port, or HOST:PORT of this
// machine alone, for the token and all messages pass in the clear.
func Loopback(v string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		host, port = "", v
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	switch {
	case err != nil:
		return at, fmt.Errorf("%q is no address: say a port, or 127.0.0.1:PORT", v)
	case !at.Addr().IsLoopback():
		return at, fmt.Errorf("%s would be reached from other machines, with the token and all messages in the clear: say 127.0.0.1:PORT, and come from afar by ssh -L", v)
	}
	return at, nil
}

var sizes = []struct {
	name string
	n    int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// leastLog is less than which no log is of use.
const leastLog = 1 << 20

func size(v string) (int64, error) {
	for _, unit := range sizes {
		if number, ok := strings.CutSuffix(v, unit.name); ok {
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n > 1<<62/unit.n || n*unit.n < leastLog {
				return 0, fmt.Errorf("%q is no size", v)
			}
			return n * unit.n, nil
		}
	}
	return 0, fmt.Errorf("%q is no size", v)
}

// Duration is one as Go writes it, or in days. Of a bare number but 0 nobody knows what it counts.
func Duration(v string) (time.Duration, error) {
	if number, ok := strings.CutSuffix(v, "d"); ok {
		if days, err := strconv.Atoi(number); err == nil && days >= 0 && days <= 36500 {
			return time.Duration(days) * 24 * time.Hour, nil
		}
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n > 0 {
		return 0, fmt.Errorf("%q has no unit: say %ss, %sm or %sms", v, v, v, v)
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration: 500ms, 30s, 5m, 30d", v)
	}
	return d, nil
}
