package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// server is a real one that a test has for itself: where it runs, and as whom.
type server struct {
	t   *testing.T
	dir string // its data, and its socket
	as  *syscall.Credential
}

// newServer is a server in a directory of the test's that is the server's own. Those that refuse
// root run as nobody.
func newServer(t *testing.T, dir string, refusesRoot bool) server {
	t.Helper()
	s := server{t: t, dir: dir}
	must(t, os.MkdirAll(dir, 0o700))
	if os.Getuid() != 0 || !refusesRoot {
		return s
	}
	nobody, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	must(t, err)
	must(t, os.Chown(dir, int(uid), -1))
	must(t, os.Chmod(filepath.Dir(dir), 0o711)) // to be let through
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(os.Getgid())}
	return s
}

// command is one of the server's own, run by it and with no more of our environment than it needs.
func (s server) command(argv ...string) *exec.Cmd {
	s.t.Helper()
	cmd := command(s.t, argv...)
	cmd.Dir, cmd.Env = s.dir, []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// prepares runs what makes the server's data.
func (s server) prepares(argv ...string) {
	s.t.Helper()
	if out, err := s.command(argv...).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

// serves starts it, for as long as the test lasts, and waits until a command of its client's works.
func (s server) serves(argv []string, client ...string) {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	must(s.t, err)
	defer log.Close()
	cmd := s.command(argv...)
	cmd.Stdout, cmd.Stderr = log, log
	must(s.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGQUIT) // at once, for all of them; it may have ended
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			cmd.Process.Kill()
		}
	})
	ctx := patience(s.t, "an answer of "+argv[0])
	for command(s.t, client...).Run() != nil {
		if ctx.Err() != nil {
			said, _ := os.ReadFile(log.Name())
			s.t.Fatalf("no answer of %v\n%s", argv, said)
		}
		pause(s.t, 50*time.Millisecond)
	}
}

// postgres is a server on a socket in dir, which the client finds by $PGHOST and $PGUSER.
func postgres(t *testing.T, dir string) {
	t.Helper()
	s := newServer(t, filepath.Join(dir, "pg"), true)
	s.prepares("initdb", "-D", s.dir+"/data", "-A", "trust", "-N", "-U", "owner", "-E", "UTF8")
	s.serves([]string{"postgres", "-D", s.dir + "/data", "-k", s.dir, "-c", "listen_addresses=", "-F"},
		"psql", "-h", s.dir, "-U", "owner", "-c", "select 1", "postgres")
}

// mariadb is a server on the socket my/s in dir, with a database of the name x.
func mariadb(t *testing.T, dir string) {
	t.Helper()
	s := newServer(t, filepath.Join(dir, "my"), true)
	s.prepares("mariadb-install-db", "--no-defaults", "--datadir="+s.dir+"/data", "--skip-test-db",
		"--auth-root-authentication-method=normal")
	s.serves([]string{"mariadbd", "--no-defaults", "--datadir=" + s.dir + "/data", "--socket=" + s.dir + "/s",
		"--skip-networking", "--pid-file=" + s.dir + "/pid"},
		"mariadb", "--no-defaults", "-S", s.dir+"/s", "-u", "root", "-e", "create database if not exists x")
}

// sshServer is a server on a port of its own of the loopback, for the user that the test runs as,
// with keys of its own; the client finds it by the file ssh_config in dir, under the name box. What
// it is told to run there starts in dir.
func sshServer(t *testing.T, dir string) {
	t.Helper()
	s := newServer(t, filepath.Join(dir, "sshd"), false)
	if os.Getuid() == 0 {
		must(t, os.MkdirAll("/run/sshd", 0o755)) // the service makes it, and root's servers want it
	}
	me, err := user.Current()
	must(t, err)
	port := strconv.Itoa(freePort(t))
	for _, key := range []string{"host", "user"} {
		s.prepares("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	}
	public, err := os.ReadFile(filepath.Join(s.dir, "host.pub"))
	must(t, err)
	for name, text := range map[string]string{
		"known": "[127.0.0.1]:" + port + " " + string(public),
		"conf": fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\n"+
			"PidFile none\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n", port, s.dir),
		"../ssh_config": fmt.Sprintf("Host box\nHostName 127.0.0.1\nPort %s\nUser %s\nIdentityFile %[3]s/user\nIdentitiesOnly yes\n"+
			"UserKnownHostsFile %[3]s/known\nStrictHostKeyChecking yes\n", port, me.Username, s.dir),
	} {
		must(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
	program, err := exec.LookPath("sshd")
	if errors.Is(err, exec.ErrNotFound) { // it is in no ordinary user's path
		program, err = "/usr/sbin/sshd", nil
	}
	must(t, err)
	s.serves([]string{program, "-D", "-e", "-f", s.dir + "/conf"}, "ssh", "-F", dir+"/ssh_config", "box", "true")
}

// freePort is a port of the loopback that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
