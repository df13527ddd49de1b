package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/protocol/process"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// router checks the one that runs, or else whether the last one could.
func (d *Doctor) router(ctx context.Context, h home.Home) {
	const check = "router"
	pid, listens := sock.Listening(h.Socket)
	if !listens {
		if err := h.Beyond(); err != nil {
			d.trouble(check, err, "")
		} else if text, err := h.Told(); err == nil && len(d.Mended) == 0 && !started(text) {
			const failed = "the last router did not start, or failed (%s): %s"
			d.broken(check, "mend what it says; relay serve shows it at once", failed, h.Log(), lastLines(text, 3))
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := h.Running(ctx, "")
	if stopped := (*api.StoppedError)(nil); errors.As(err, &stopped) {
		d.trouble(check, stopped, "")
		return
	}
	if err != nil {
		d.broken(check, "end process "+number(pid)+"; the next command starts another one", "a router listens at %s and does not answer: %v", h.Socket, err)
		return
	}
	is, err := client.Health(ctx)
	if err == nil && is.Version != d.Version {
		d.broken(check, "end process "+number(is.PID)+"; the next command starts one of this version",
			"the router that runs is version %s, and relay is %s", cmp.Or(is.Version, "unknown"), d.Version)
	}
	if err == nil && is.Degraded {
		fix := "make room for its log; if that was removed, end process " + number(is.PID) +
			": the next command starts another one"
		d.broken(check, fix, "the router refuses messages: %s", is.Problem)
	}
	if lately, err := client.Lately(ctx); err == nil && lately.Count > 0 {
		d.untidy("messages", "relay log --dead lists what did not arrive; relay redeliver ID sends it again", "%v", lately)
	}
	if info, err := os.Stat(h.Socket); err == nil && info.Mode().Perm()&0o077 != 0 {
		d.broken(check, "chmod 600 "+h.Socket, "%s is open to others (mode %04o)", h.Socket, info.Mode().Perm())
	}
}

func number(pid int) string {
	if pid == 0 {
		return "(of an unknown number)"
	}
	return strconv.Itoa(pid)
}

// started reports whether the last that a router told, but for notes, is that it runs: one that
// ends as it should says nothing more. One that was started while another ran does not count.
func started(log string) bool {
	for _, line := range slices.Backward(strings.Split(strings.TrimSpace(log), "\n")) {
		told := strings.HasPrefix(line, "relay: hint: ") || strings.HasPrefix(line, "relay: note: ")
		if !told && !strings.Contains(line, "held by the router that runs") {
			return line == "" || strings.HasPrefix(line, "relay: router at ")
		}
	}
	return true
}

// wrappers checks all that have announced themselves, in all places where the router looks.
func (d *Doctor) wrappers(ctx context.Context, h home.Home) {
	const check = "agents"
	places := h.Places()
	for _, dir := range append([]string{h.Agents}, places.Others...) {
		if dir != h.Agents && !registry.Trusted(dir) {
			continue // there is none, or it is somebody else's
		}
		records, err := registry.All(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			for line := range strings.Lines(err.Error()) {
				d.broken(check, "remove that file", "%s", strings.TrimSpace(line))
			}
		}
		var dead []registry.Record
		for _, r := range records {
			ours := dir == h.Agents || r.State != "" && r.State == places.State
			if ours && !d.recorded(ctx, h, r, filepath.Join(dir, r.Name+".json")) {
				dead = append(dead, r)
			}
		}
		d.remains(dir, dead)
	}
	d.explained(ctx)
}

// recorded compares what is recorded with what answers, and reports whether the wrapper lives.
func (d *Doctor) recorded(ctx context.Context, h home.Home, r registry.Record, file string) bool {
	const check = "agents"
	if info, err := os.Lstat(file); err == nil && (info.Mode().Perm()&0o077 != 0 || own.UID(info) != os.Geteuid()) {
		d.broken(check, "chmod 600 "+file+", and look who did it", "%s is not closed to others (mode %04o, uid %d)", file, info.Mode().Perm(), own.UID(info))
	}
	_, listens := sock.Listening(r.Socket)
	switch {
	case !listens && r.Lives():
		d.broken(check, "start it anew by relay run, which puts sockets where sandboxes see them, too; or ask from where it runs",
			"%s runs (process %d), and its socket %s cannot be reached from here (another mount namespace?)", r.Name, r.PID, r.Socket)
	case !listens:
		return false
	case d.wrapper(ctx, r):
		d.unseen(ctx, h, r)
	}
	return true
}

// unseen finds a wrapper that answers us, and cannot be reached by a router with other mounts.
func (d *Doctor) unseen(ctx context.Context, h home.Home, r registry.Record) {
	pid, listens := sock.Listening(h.Socket)
	if !listens || !home.OtherMounts(pid) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := h.Running(ctx, "")
	if err != nil {
		return // which was found
	}
	if _, err := client.Screen(ctx, r.Name); err != nil {
		d.broken("agents", "end process "+number(pid)+"; the next command starts one that reaches what the command reaches",
			"the router (process %d) cannot reach the socket of %s, %s: it has other mounts than this command", pid, r.Name, r.Socket)
	}
}

// wrapper asks one that runs how it is, and reports whether it answers.
func (d *Doctor) wrapper(ctx context.Context, r registry.Record) bool {
	const check = "agents"
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := ask[*protocol.StatusAnswer](ctx, r.Socket, &protocol.Status{})
	if err != nil && process.Stopped(r.PID) {
		d.broken(check, "kill -CONT "+number(r.PID)+" lets it go on",
			"the wrapper of %s (process %d) is stopped: nobody can type there, and messages wait", r.Name, r.PID)
		return false
	}
	if err != nil {
		d.broken(check, "look at process "+number(r.PID), "the wrapper of %s does not answer: %v", r.Name, err)
		return false
	}
	anew := "end " + r.Name + ", and start it with the relay-pty that is installed"
	lacks := slices.DeleteFunc(protocol.Features(), func(f string) bool { return f == explains || slices.Contains(s.Features, f) })
	switch {
	case s.Protocol != protocol.Version:
		d.broken(check, anew, "the wrapper of %s speaks protocol %d, and relay %d", r.Name, s.Protocol, protocol.Version)
	case len(lacks) > 0:
		d.broken(check, anew, "the wrapper of %s is older than relay: it lacks %s", r.Name, strings.Join(lacks, ", "))
	}
	if s.Degraded {
		d.broken(check, "make room for its journal; its --log-file, if it has one, says what fails", "%s refuses messages: its journal cannot be written", r.Name)
	}
	if s.State == protocol.StateReady && s.BlockedBy != "" {
		d.broken(check, "end the agent and start it again; relay show ID tells what became of each",
			"messages to %s wait for what cannot come: %s", r.Name, s.BlockedBy)
	}
	d.live = append(d.live, live{Record: r, status: s})
	return true
}

// ask asks a wrapper something that is answered by an A.
func ask[A protocol.Frame](ctx context.Context, socket string, request protocol.Request) (a A, err error) {
	client, err := sock.Dial(ctx, socket)
	if err != nil {
		return a, err
	}
	defer client.Close()
	answer, err := client.Ask(ctx, request)
	if err != nil {
		return a, err
	}
	a, ok := answer.(A)
	if !ok {
		return a, fmt.Errorf("it answers %s by %s", request.Type(), answer.Type())
	}
	return a, nil
}
