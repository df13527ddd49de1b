package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"relay-pty/cmd/relay-pty/agent"
	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
	"relay-pty/protocol/version"
	"relay-pty/pty"
	"relay-pty/queue"
)

const usage = `usage: relay-pty --name NAME [flags] -- COMMAND [ARG...]

Wraps COMMAND in a terminal of its own. Messages written to the socket as JSON
lines are typed into it when it is ready; what is typed by hand goes through.

  --name NAME            who the agent is; others address it by this
  --socket PATH          injection socket        (/tmp/relay-pty-NAME.sock;
                         where another user has that: relay/NAME.sock in
                         $XDG_RUNTIME_DIR, else /tmp/relay-UID/NAME.sock)
  --agent PROFILE        %s; or FILE.json (by what runs)
                         Programs that no profile knows get messages only if
                         they read lines; generic, spelled out, lets them in
                         anywhere, where they may be keys or commands
  --prompt-pattern RE    the line up to the cursor that means ready
  --idle-timeout DUR     silence that means ready if nothing better does (500)
  --queue-max N          most messages waiting (50); --queue-high, --queue-low
  --draft-timeout DUR    a draft left alone so long may be set aside for a
                         message and brought back; 0: never          (120s)
  --batch-max N          most messages typed as one turn               (10)
  --markers SOURCE       read ->relay: from auto, log, stream or off     (auto)
  --notice SIGN          that messages wait for you: title, bell, osc9   (off)
  --allow-command        take messages of kind command, which run as typed
  --json-output          relay_command events as JSON lines on stderr
  --headless --size CxR  no terminal: no input, output dropped       (120x40)
  --state-dir DIR        journal of what was accepted  (~/.local/state/relay-pty)
  --ephemeral            no journal: the queue is in memory only
  --log-file FILE        JSON log; --log-level debug, info, warn, error  (info)
  --check-profile        [AGENT] [-- COMMAND]: does the profile still hold?
  --agents               list the profiles
  --version --help       -h, too

Example, in one terminal and in another (nc is OpenBSD's, netcat-openbsd):
  relay-pty --name alice -- claude
  echo '{"type":"inject","id":"m1","from":"bob","body":"hello"}' |
      nc -UN /tmp/relay-pty-alice.sock
`

// config is the command line.
type config struct {
	Name    string
	Socket  string // "": the usual one
	Profile *profile.Profile
	Prompt  string // the user's own pattern; "" is the profile's
	Idle    time.Duration
	Queue   queue.Config

	DraftTimeout time.Duration // 0: a draft is never set aside
	BatchMax     int           // most messages typed as one turn

	Markers   string
	Notice    string // the sign that messages wait behind a draft or a dialog
	JSON      bool
	Headless  bool
	Plain     bool             // the command has our own files, and no terminal of its own
	signals   <-chan os.Signal // to be handed on to a plain command
	Commands  bool             // messages of kind command are taken
	Size      pty.Winsize
	LogFile   string
	LogLevel  zerolog.Level
	Command   []string
	agent     string
	StateDir  string // of the journal
	State     string // what is in it belongs together: own.StateDir
	Ephemeral bool   // there is none
	size      string
	logLevel  string
	asVersion bool
	asAgents  bool
	asCheck   bool // hold a profile against its agent instead of wrapping one
}

// millis is a duration that is also taken as a bare number of milliseconds.
type millis time.Duration

func (m *millis) String() string { return time.Duration(*m).String() }
func (m *millis) Type() string   { return "duration" }
func (m *millis) Set(s string) error {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		s = strconv.FormatInt(n, 10) + "ms"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("want milliseconds, or a duration such as 500ms or 5m")
	}
	*m = millis(d)
	return nil
}

// parse reads the command line. Help, version and the list of agents go to stdout and end with
// pflag.ErrHelp.
func parse(args []string, stdout io.Writer) (config, error) {
	var c config
	fs := c.flags()
	if err := fs.Parse(args); err != nil {
		if err == pflag.ErrHelp {
			fmt.Fprintf(stdout, usage, strings.Join(agents.Names(), ", "))
			return c, err
		}
		return c, hinted{err, "see relay-pty --help"}
	}
	if c.asVersion {
		fmt.Fprintln(stdout, "relay-pty", version.Release)
		return c, pflag.ErrHelp
	}
	if c.asAgents {
		for _, name := range agents.Names() {
			p, _ := agents.Named(name)
			fmt.Fprintf(stdout, "%-10s %s\n", name, p.Title)
		}
		return c, pflag.ErrHelp
	}
	if c.asCheck {
		return c, c.checkArgs(fs.Args(), fs.ArgsLenAtDash())
	}
	c.Command = fs.Args()
	return c, c.check()
}

func (c *config) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("relay-pty", pflag.ContinueOnError)
	fs.SetInterspersed(false) // flags behind COMMAND are its own
	fs.Usage = func() {}
	c.Idle = 500 * time.Millisecond
	fs.StringVar(&c.Name, "name", "", "")
	fs.StringVar(&c.Socket, "socket", "", "")
	fs.StringVar(&c.agent, "agent", "", "")
	fs.StringVar(&c.Prompt, "prompt-pattern", "", "")
	fs.Var((*millis)(&c.Idle), "idle-timeout", "")
	fs.IntVar(&c.Queue.Max, "queue-max", 50, "")
	fs.IntVar(&c.Queue.High, "queue-high", 0, "")
	fs.IntVar(&c.Queue.Low, "queue-low", 0, "")
	c.DraftTimeout = 120 * time.Second
	fs.Var((*millis)(&c.DraftTimeout), "draft-timeout", "")
	fs.IntVar(&c.BatchMax, "batch-max", 10, "")
	fs.StringVar(&c.Markers, "markers", "auto", "")
	fs.StringVar(&c.Notice, "notice", noticeOff, "")
	fs.BoolVar(&c.JSON, "json-output", false, "")
	fs.BoolVar(&c.Commands, "allow-command", false, "")
	fs.BoolVar(&c.Headless, "headless", false, "")
	fs.StringVar(&c.StateDir, "state-dir", "", "")
	fs.BoolVar(&c.Ephemeral, "ephemeral", false, "")
	fs.StringVar(&c.size, "size", "120x40", "")
	fs.StringVar(&c.LogFile, "log-file", "", "")
	fs.StringVar(&c.logLevel, "log-level", "info", "")
	fs.BoolVar(&c.asVersion, "version", false, "")
	fs.BoolVar(&c.asAgents, "agents", false, "")
	fs.BoolVar(&c.asCheck, "check-profile", false, "")
	return fs
}

// check completes the defaults and refuses what cannot work.
func (c *config) check() error {
	if c.Name == "" {
		return hinted{fmt.Errorf("--name is required"), "give the agent a name: relay-pty --name alice -- COMMAND"}
	}
	if err := protocol.ValidName(c.Name); err != nil {
		return fmt.Errorf("--name: %w", err)
	}
	if len(c.Command) == 0 {
		return hinted{fmt.Errorf("no command to wrap"), "name it behind --: relay-pty --name " + c.Name + " -- claude"}
	}
	for _, check := range []func() error{c.checkSocket, c.checkProfile, c.checkQueue, c.checkMarkers, c.checkNotice, c.checkSize, c.checkLog, c.checkState} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkSocket holds a path that was asked for to the limit that every program has. The one that
// relay run asks for may be longer: our own programs reach it.
func (c *config) checkSocket() error {
	dir, err := registry.Where()
	if c.Socket == "" || err == nil && c.Socket == registry.SocketIn(filepath.Dir(dir), c.Name) {
		return nil
	}
	return withHint(sock.CheckPath(c.Socket))
}

func (c *config) checkProfile() error {
	if c.agent == "" {
		c.Profile = agents.For(c.Command...)
		return nil
	}
	var err error
	if c.Profile, _, err = agent.Profile(c.agent, c.Command); err != nil {
		return withHint(err)
	}
	return nil
}

func (c *config) checkQueue() error {
	if c.Queue.Max < 1 {
		return fmt.Errorf("--queue-max: %d: want at least 1", c.Queue.Max)
	}
	if c.BatchMax < 1 {
		return fmt.Errorf("--batch-max: %d: want at least 1", c.BatchMax)
	}
	filled, err := c.Queue.Filled()
	if err != nil {
		return fmt.Errorf("--queue-low %d, --queue-high %d: %w", c.Queue.Low, c.Queue.High, err)
	}
	c.Queue = filled
	return nil
}

func (c *config) checkMarkers() error {
	switch c.Markers {
	case "auto", "stream", markersOff:
		return nil
	case "log":
		if c.Profile.Log == nil {
			return fmt.Errorf("--markers log: profile %s knows no log of the agent; use stream", c.Profile.Name)
		}
		return nil
	}
	return fmt.Errorf("--markers: %q: want auto, log, stream or off", c.Markers)
}

// markersOff is the --markers by which none are read.
const markersOff = "off"

// markers is where they are read from: by auto the agent's own log where the profile has one.
func (c *config) markers(p *profile.Profile) string {
	switch {
	case c.Markers != "auto":
		return c.Markers
	case p.Log != nil:
		return protocol.SourceLog
	case p.Quote.Inert():
		return markersOff // what a shell prints is files and programs, not an agent's words
	}
	return protocol.SourceStream
}

func (c *config) checkNotice() error {
	switch c.Notice {
	case noticeOff, noticeTitle, noticeBell, noticeOSC9:
		return nil
	}
	return fmt.Errorf("--notice: %q: want off, title, bell or osc9", c.Notice)
}

func (c *config) checkSize() error {
	w, h, _ := strings.Cut(c.size, "x")
	cols, cerr := strconv.Atoi(w)
	rows, rerr := strconv.Atoi(h)
	if cerr != nil || rerr != nil || min(cols, rows) < 1 || max(cols, rows) > 1000 {
		return fmt.Errorf("--size: %q: want COLSxROWS, as in 120x40, each at most 1000", c.size)
	}
	c.Size = pty.Winsize{Rows: rows, Cols: cols}
	return nil
}

// checkState settles where the journal is kept.
func (c *config) checkState() error {
	state, err := own.StateDir()
	if err == nil {
		c.State = state
	}
	switch {
	case c.Ephemeral:
		c.StateDir = ""
	case c.StateDir != "":
	case err != nil:
		return hinted{fmt.Errorf("no place for the journal: %w", err), "name one with --state-dir, or go without: --ephemeral"}
	default:
		c.StateDir = filepath.Join(state, "relay-pty")
	}
	return nil
}

func (c *config) checkLog() error {
	var err error
	if c.LogLevel, err = zerolog.ParseLevel(c.logLevel); err != nil || c.logLevel == "" {
		return fmt.Errorf("--log-level: %q: want debug, info, warn or error", c.logLevel)
	}
	if c.JSON && term.IsTerminal(int(os.Stderr.Fd())) {
		return hinted{fmt.Errorf("--json-output writes to stderr, and stderr is this terminal"),
			"send it elsewhere: relay-pty --json-output … 2>events.jsonl"}
	}
	return nil
}
