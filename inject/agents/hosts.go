package agents

import (
	"path/filepath"
	"slices"
	"strings"
)

// host is a kind of command that hands on what it reads: to a terminal of its own, to another
// machine or user, or to an interpreter. What that makes of a message nobody on this side can tell.
type host struct {
	commands []string
	with     []string // only with an argument that begins like one of these; nil: always
	bare     bool     // only without a file to run
}

// hosts are the known ones, those above all that read line by line: a program in raw mode gets
// nothing anyway unless something describes it.
var hosts = []host{
	{commands: []string{
		"tmux", "screen", "zellij", "dtach", "abduco", "script", "asciinema", "expect", "unbuffer",
		"ssh", "autossh", "mosh", "mosh-client", "telnet", "rlogin", "rsh", "ftp", "sftp", "lftp",
		"su", "sudo", "doas", "runuser", "pkexec", "chroot", "unshare", "nsenter", "machinectl",
		"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "incus", "toolbox", "distrobox", "adb",
		"minicom", "picocom", "cu", "tio",
	}},
	{commands: []string{
		"gdb", "lldb", "irb", "ed", "red", "ex", "dc", "m4", "gnuplot", "mail", "mailx", "xargs", "at", "batch",
		"mysql", "mariadb", "mongosh", "redis-cli", "jshell", "ghci", "csh", "tcsh", "pwsh", "nu", "xonsh", "elvish",
	}},
	{commands: []string{"lua", "luajit", "R", "octave", "tclsh", "ocaml", "erl", "iex", "php", "rc", "es", "yash"}, bare: true},
	{commands: []string{"perl"}, with: []string{"-d", "-MCPAN"}},
	{commands: []string{"php"}, with: []string{"-a", "--interactive"}},
	{commands: []string{"python", "python3"}, with: []string{"pdb", "code"}},
	{commands: []string{"vi", "vim", "nvim"}, with: []string{"-e", "-E"}},
	{commands: []string{"busybox"}, with: []string{"sh", "ash", "hush"}},
}

// Host is the name of the program that a command line starts if that hands on what it reads to
// something that may run it; "" if it is not known as such.
func Host(argv ...string) string {
	if len(argv) == 0 {
		return ""
	}
	return hostOf(Open(argv...).Argv)
}

// hostOf is the same of a program's own line.
func hostOf(argv []string) string {
	base := filepath.Base(argv[0])
	for _, h := range hosts {
		if slices.Contains(h.commands, base) && h.fits(argv[1:]) {
			return base
		}
	}
	return ""
}

func (h host) fits(args []string) bool {
	like := func(arg string) bool {
		return slices.ContainsFunc(h.with, func(w string) bool { return strings.HasPrefix(arg, w) })
	}
	switch {
	case h.bare:
		return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	case h.with != nil:
		return slices.ContainsFunc(args, like)
	}
	return true
}
