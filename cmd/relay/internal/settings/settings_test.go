package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestFile(t *testing.T) {
	for text, change := range map[string]func(s *Settings){
		"":                                    func(*Settings) {},
		"# nothing\ndefault_timeout = \"5m\"": func(s *Settings) { s.DefaultTimeout = 5 * time.Minute },
		"default_timeout = 0":                 func(s *Settings) { s.DefaultTimeout = 0 },
		`default_timeout = "500ms"`:           func(s *Settings) { s.DefaultTimeout = 500 * time.Millisecond },
		`retain = "7d"`:                       func(s *Settings) { s.Age = 7 * 24 * time.Hour },
		`retain = ["7d", "16MiB"]`:            func(s *Settings) { s.Age, s.Bytes = 7*24*time.Hour, 16<<20 },
		`retain = "2GiB, 36h"`:                func(s *Settings) { s.Age, s.Bytes = 36*time.Hour, 2<<30 },
		"allow_agent_direct = false":          func(s *Settings) { s.AllowAgentDirect = false },
		`allow_urgent = ["human", "ci"]`:      func(s *Settings) { s.AllowUrgent = []string{"human", "ci"} },
		"http_addr = 7777":                    func(s *Settings) { s.HTTPAddr = "7777" },
		`http_addr = "[::1]:7777"`:            func(s *Settings) { s.HTTPAddr = "[::1]:7777" },
		"max_hops = 3":                        func(s *Settings) { s.MaxHops = 3 },
		"max_chain = 9":                       func(s *Settings) { s.MaxChain = 9 },
		"pair_limit = 0":                      func(s *Settings) { s.PairLimit = 0 },
		"allow_urgent = []":                   func(s *Settings) { s.AllowUrgent = []string{} },
		"draft_timeout = \"30s\"\nbatch_max = 3": func(s *Settings) {
			s.DraftTimeout, s.BatchMax = "30s", "3"
		},
	} {
		got, want := defaults(), defaults()
		change(&want)
		if err := got.file(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestFileThatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"\nretain = ":                "line 2: ",
		"retains = 1":                "there is no setting retains: did you mean retain?",
		"colour = 1":                 "there is no setting colour; there are default_timeout, dm_expiry, ",
		"dm_expiry = 5m":             `line 1: dm_expiry is 5m: a duration is written in quotes, with a unit: dm_expiry = "5m"`,
		"\n\n retain=30d # days":     `line 3: retain is 30d # days: an age, a size or both are written in quotes: retain = "30d,1GiB"`,
		"dm_expiri = 5m":             "line 1: there is no setting dm_expiri: did you mean dm_expiry?",
		"dm_expiry = 300":            `dm_expiry: "300" has no unit: say 300s, 300m or 300ms; a duration is written in quotes, with a unit: dm_expiry = "5m"`,
		"dm_expiry = ":               `line 1: dm_expiry is nothing: a duration`,
		"allow_urgent = [ci]":        `line 1: allow_urgent is [ci]: names are written in quotes, between brackets: allow_urgent = ["human", "ci"]`,
		"allow_urgent = ci":          "names are written in quotes",
		"max_hops = 0":               "is no number from 1 on",
		"max_chain = -1":             "is no number from 1 on",
		"pair_limit = -1":            "is no number from 0 on",
		"allow_agent_direct = yes":   "line 1: allow_agent_direct is yes: it is true or false, without quotes: allow_agent_direct = true",
		"allow_agent_direct = True":  "it is true or false, without quotes",
		"batch_max = ten":            "line 1: batch_max is ten: a number is written without quotes: batch_max = 10",
		"http_addr = 127.0.0.1:7777": "an address is written in quotes",
		"dm_expiry 5m":               "line 1: ",
		"dm_expiry: 5m":              "line 1: ",
		"dm_expiry = \"5m":           `line 1: dm_expiry is "5m: a duration is written in quotes`,
		"[relay]\nretain = \"1d\"":   "there is no setting relay",
		`retain = "1PiB"`:            `retain: "1PiB" is neither an age, as 30d, nor a size, as 1GiB`,
		`retain = ""`:                "retain: it is empty",
		`retain = "0d"`:              "is neither an age",
		`retain = "1KiB"`:            "is neither an age",
		`default_timeout = "soon"`:   `default_timeout: "soon" is no duration`,
		`default_timeout = "-1s"`:    "is no duration",
		`dm_expiry = "30"`:           `dm_expiry: "30" has no unit: say 30s, 30m or 30ms`,
		"draft_timeout = 500":        `draft_timeout: "500" has no unit: say 500s, 500m or 500ms`,
		"allow_agent_direct = \"x\"": "allow_agent_direct: \"x\" is neither true nor false",
		`allow_urgent = ["a b/"]`:    "allow_urgent: ",
		`http_addr = "0.0.0.0:80"`:   "http_addr: 0.0.0.0:80 would be reached from other machines",
		`http_addr = "[::]:80"`:      "would be reached from other machines",
		`http_addr = "relay.dev:80"`: `http_addr: "relay.dev:80" is no address: say a port, or 127.0.0.1:PORT`,
		`http_addr = "127.0.0.1"`:    "is no address",
		"batch_max = 0":              `batch_max: "0" is no number from 1 on`,
		"batch_max = 1\nbatch_max=2": "line 2: batch_max is set twice",
	} {
		s := defaults()
		if err := s.file(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestEnvironmentComesBeforeTheFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // without a file
	t.Setenv("RELAY_DEFAULT_TIMEOUT", "1m")
	t.Setenv("RELAY_ALLOW_URGENT", "ci,eve")
	t.Setenv("RELAY_BATCH_MAX", "") // not set
	s, err := Load()
	if err != nil || s.DefaultTimeout != time.Minute || !reflect.DeepEqual(s.AllowUrgent, []string{"ci", "eve"}) || s.BatchMax != "" {
		t.Errorf("%+v, %v", s, err)
	}
	t.Setenv("RELAY_RETAIN", "much")
	if _, err := Load(); err == nil || !strings.HasPrefix(err.Error(), `$RELAY_RETAIN: "much" is neither`) {
		t.Errorf("got %v", err)
	}
}

// TestHelpTellsAllSettings, and its examples are values.
func TestHelpTellsAllSettings(t *testing.T) {
	help := Help()
	for _, o := range all {
		if !strings.Contains(help, "\n  "+o.name+" ") || !strings.Contains(help, o.says) {
			t.Errorf("%s is missing", o.name)
		}
		values := []string{o.kind.example}
		if o.def != unset && o.def != wrapperOwn {
			values = append(values, o.def)
		}
		for _, v := range values {
			s := defaults()
			if err := s.file(o.name + " = " + v); err != nil {
				t.Error(err)
			}
			if v == o.def && !reflect.DeepEqual(s, defaults()) {
				t.Errorf("%s = %s is not the default: %+v", o.name, v, s)
			}
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > 110 {
			t.Errorf("too long: %s", line)
		}
	}
}

// TestFileThatIsNone: a fifo in its place is told, and not waited for.
func TestFileThatIsNone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path := filepath.Join(dir, "relay", "config.toml")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), unix.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go func() {
		_, err := Load()
		told <- err
	}()
	select {
	case err := <-told:
		if want := "read settings: " + path + " is a fifo, not a file"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("the settings are not read, nor refused, within a minute")
	}
}
