package screen

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"relay-pty/pty/screen/width"

	"golang.org/x/term"
)

var update = flag.Bool("update", false, "rewrite the golden screens with what tmux shows, and check the built-in cases against tmux")

// playerSocket names the socket of a player; a test binary that finds it in its
// environment is the program within the pane.
const playerSocket = "SCREEN_TEST_PLAYER"

func TestMain(m *testing.M) {
	if path := os.Getenv(playerSocket); path != "" {
		if err := play(path); err != nil {
			fmt.Fprintln(os.Stderr, "player:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// barrier is a query; once tmux has answered it, tmux has read all before it.
const (
	barrier = "\x1b[5n"
	answer  = "\x1b[0n"
)

// play writes what comes over the socket to its terminal, raw, and says when
// tmux has taken it in.
func play(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	var heard []byte
	asked := 0
	for {
		var size uint32
		if err := binary.Read(conn, binary.BigEndian, &size); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(conn, data); err != nil {
			return err
		}
		asked += bytes.Count(data, []byte(barrier)) + 1
		if _, err := os.Stdout.Write(append(data, barrier...)); err != nil {
			return err
		}
		for buf := make([]byte, 4096); bytes.Count(heard, []byte(answer)) < asked; {
			n, err := os.Stdin.Read(buf)
			if err != nil {
				return err
			}
			heard = append(heard, buf[:n]...)
		}
		if _, err := conn.Write([]byte{1}); err != nil {
			return err
		}
	}
}

// pane is a tmux server of our own with one pane that holds a player.
type pane struct {
	t          *testing.T
	dir        string
	rows, cols int
	conn       net.Conn
}

func newPane(t *testing.T, rows, cols int) *pane {
	t.Helper()
	dir, err := os.MkdirTemp("", "st") // short: a socket's path is bounded
	must(t, err)
	p := &pane{t: t, dir: dir, rows: rows, cols: cols}
	path := filepath.Join(dir, "p")
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	exe, err := os.Executable()
	must(t, err)
	t.Cleanup(func() {
		p.run("kill-server")
		os.RemoveAll(dir)
	})
	p.run("start-server", ";", "set", "-g", "status", "off", ";", "set", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), "-e", playerSocket+"="+path, exe)
	if p.conn, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	p.run("select-pane", "-T", "")
	return p
}

func (p *pane) run(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "s", "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "TMUX_TMPDIR="+p.dir, "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// write plays data and returns when tmux has it on its screen.
func (p *pane) write(data []byte) {
	p.t.Helper()
	msg := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	if _, err := p.conn.Write(msg); err != nil {
		p.t.Fatal(err)
	}
	if _, err := io.ReadFull(p.conn, make([]byte, 1)); err != nil {
		p.t.Fatalf("player: %v; pane shows %q", err, p.run("capture-pane", "-p"))
	}
}

func (p *pane) resize(rows, cols int) {
	p.t.Helper()
	p.rows, p.cols = rows, cols
	p.run("resize-window", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows))
}

// look returns tmux's screen in the form of looks.
func (p *pane) look() look {
	p.t.Helper()
	size := p.run("display-message", "-p", "#{pane_height},#{pane_width}")
	if want := fmt.Sprintf("%d,%d\n", p.rows, p.cols); size != want {
		p.t.Fatalf("the pane is %q, want %q", size, want)
	}
	var l look
	pos := strings.SplitN(strings.TrimSuffix(p.run("display-message", "-p", "#{cursor_y},#{cursor_x},#{pane_title}"), "\n"), ",", 3)
	l.row, _ = strconv.Atoi(pos[0])
	l.col, _ = strconv.Atoi(pos[1])
	if l.col > p.cols {
		// After a resize without reflow tmux 3.3a leaves the cursor where it was,
		// be it beyond the edge, until the program moves it.
		l.col = p.cols - 1
	}
	l.title = pos[2]
	captured := strings.Split(p.run("capture-pane", "-p", "-e"), "\n")
	var now attr // tmux carries attributes over from row to row
	for _, line := range captured[:p.rows] {
		var text string
		var attrs []attr
		text, attrs, now = undress(line, now)
		// It also prints what the row held when the pane was wider.
		text = strings.TrimRight(cut(text, p.cols), " ")
		l.rows = append(l.rows, text)
		l.attrs = append(l.attrs, attrs)
	}
	return l
}

// cut returns the part of text that the first cols columns hold.
func cut(text string, cols int) string {
	used := 0
	for i, r := range text {
		if used += width.Of(r); used > cols {
			return text[:i]
		}
	}
	return text
}

// undress splits a row captured with -e into its text and, by column, its
// attributes. It knows what tmux writes there: SGR, and SO and SI around line
// drawing.
func undress(line string, now attr) (text string, attrs []attr, after attr) {
	var b strings.Builder
	drawing := false
	for len(line) > 0 {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			args, tail, _ := strings.Cut(rest, "m")
			now = now.after(args)
			line = tail
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		if r == 0x0e || r == 0x0f {
			drawing = r == 0x0e
			continue
		}
		if drawing && r >= '`' {
			r = lineDrawing[r-'`']
		}
		b.WriteRune(r)
		for range width.Of(r) {
			attrs = append(attrs, now)
		}
	}
	// tmux trims blanks at the end, but not those before its last SGR.
	return strings.TrimRight(b.String(), " "), attrs, now
}

// after follows the attributes through the arguments of one SGR sequence.
func (a attr) after(args string) attr {
	list := strings.Split(args, ";")
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case "", "0":
			a = attr{}
		case "2":
			a.dim = true
		case "22":
			a.dim = false
		case "7":
			a.reverse = true
		case "27":
			a.reverse = false
		case "38", "48", "58":
			if i+1 < len(list) && list[i+1] == "5" {
				i += 2
			} else if i+1 < len(list) && list[i+1] == "2" {
				i += 4
			}
		}
	}
	return a
}
