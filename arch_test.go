package relay_test

import (
	"bufio"
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// layers lists which of our own packages each package may import. A package
// that is not listed may import none. What the tests' own packages import is
// theirs, see tools.
var layers = map[string]string{
	"pty":                    "pty/screen pty/term protocol/failpoint protocol/process",
	"pty/screen":             "pty/screen/grid pty/screen/vt pty/screen/width",
	"pty/screen/grid":        "",
	"pty/screen/streams":     "",
	"pty/screen/vt":          "",
	"pty/screen/width":       "",
	"pty/term":               "protocol/process protocol/signals",
	"inject":                 "inject/ready inject/draft inject/profile inject/sight inject/turn inject/waits inject/watch protocol protocol/failpoint",
	"inject/waits":           "",
	"inject/refusal":         "",
	"inject/watch":           "inject/draft inject/profile inject/prompt inject/ready inject/sight inject/turn protocol",
	"inject/prompt":          "",
	"inject/turn":            "inject/profile protocol/failpoint",
	"inject/ready":           "protocol",
	"inject/draft":           "inject/draft/keystroke",
	"inject/draft/keystroke": "",
	"inject/profile":         "inject/draft inject/ready inject/profile/keys protocol/regular",
	"inject/agents":          "inject/profile protocol/process protocol/regular",
	"inject/agents/logs":     "parser/transcript",
	"inject/agents/rig":      "",
	"inject/agents/shells":   "inject/agents/generic",
	"inject/profile/keys":    "",
	"inject/sight":           "inject/profile inject/ready pty/screen",
	"parser":                 "parser/ansi protocol protocol/failpoint",
	"parser/ansi":            "",
	"parser/sqlite":          "protocol/regular",
	"parser/transcript":      "parser parser/transcript/proc protocol protocol/regular",
	"parser/transcript/proc": "protocol/process",
	"queue":                  "protocol protocol/failpoint",
	"queue/journal":          "protocol protocol/own queue protocol/failpoint",
	"cmd/relay-pty": "cmd/relay-pty/agent cmd/relay-pty/agentlog cmd/relay-pty/clients cmd/relay-pty/handover cmd/relay-pty/ledger cmd/relay-pty/memory cmd/relay-pty/tty " +
		"inject inject/agents inject/draft inject/profile inject/ready inject/refusal inject/turn parser parser/transcript protocol protocol/own protocol/process protocol/registry protocol/sock protocol/version pty pty/screen pty/term queue",
	"cmd/relay-pty/agent":    "inject inject/agents inject/draft inject/profile inject/profile/keys inject/ready inject/sight inject/watch parser protocol protocol/process pty pty/screen",
	"cmd/relay-pty/agentlog": "inject/agents/logs inject/profile inject/ready parser/transcript protocol protocol/process",
	"cmd/relay-pty/handover": "inject inject/draft inject/refusal inject/turn parser protocol queue",
	"cmd/relay-pty/clients":  "cmd/relay-pty/handover parser protocol protocol/sock queue",
	"cmd/relay-pty/ledger":   "protocol protocol/own queue queue/journal protocol/failpoint",
	"cmd/relay-pty/tty":      "cmd/relay-pty/agent protocol/process pty pty/screen pty/term",
	"cmd/internal/await":     "",
	"cmd/internal/fakemodel": "cmd/internal/await",
	"cmd/internal/agentrig":  "cmd/internal/fakemodel inject/agents/rig",
	"cmd/relay-pty-check": "cmd/internal/agentrig cmd/internal/fakemodel cmd/relay-pty/agent cmd/relay-pty/agentlog " +
		"inject/agents inject/profile inject/ready inject/sight inject/turn parser protocol protocol/sock protocol/version pty pty/screen",
	"cmd/relay":                  "cmd/relay/internal/api cmd/relay/internal/clock cmd/relay/internal/daemon cmd/relay/internal/demo cmd/relay/internal/doctor cmd/relay/internal/home cmd/relay/internal/hook cmd/relay/internal/manual cmd/relay/internal/near cmd/relay/internal/paper cmd/relay/internal/peer cmd/relay/internal/router cmd/relay/internal/settings cmd/relay/internal/store cmd/relay/internal/tools cmd/relay/internal/vigil cmd/relay/internal/wiring inject/profile/keys",
	"cmd/relay/internal/metrics": "",
	"cmd/relay/internal/paper":   "pty/screen/width",
	"cmd/relay/internal/api":     "cmd/relay/internal/clock cmd/relay/internal/hub cmd/relay/internal/metrics cmd/relay/internal/peer cmd/relay/internal/router",
	"cmd/relay/internal/clock":   "",
	"cmd/relay/internal/daemon": "cmd/relay/internal/api cmd/relay/internal/chain cmd/relay/internal/fleet cmd/relay/internal/home cmd/relay/internal/hub " +
		"cmd/relay/internal/peer cmd/relay/internal/router cmd/relay/internal/settings cmd/relay/internal/store cmd/relay/internal/tools",
	"cmd/relay/internal/demo":           "cmd/internal/agentrig cmd/internal/fakemodel cmd/relay/internal/api pty pty/screen",
	"cmd/relay/internal/doctor":         "cmd/relay/internal/api cmd/relay/internal/clock cmd/relay/internal/home cmd/relay/internal/settings",
	"cmd/relay/internal/fleet":          "cmd/relay/internal/hub cmd/relay/internal/router",
	"cmd/relay/internal/home":           "cmd/relay/internal/api cmd/relay/internal/store",
	"cmd/relay/internal/hook":           "",
	"cmd/relay/internal/hub":            "cmd/relay/internal/router cmd/relay/internal/store",
	"cmd/relay/internal/manual":         "",
	"cmd/relay/internal/peer":           "",
	"cmd/relay/internal/router":         "cmd/relay/internal/chain cmd/relay/internal/clock cmd/relay/internal/near cmd/relay/internal/rate",
	"cmd/relay/internal/chain":          "",
	"cmd/relay/internal/rate":           "",
	"cmd/relay/internal/near":           "",
	"cmd/relay/internal/settings":       "cmd/relay/internal/near",
	"cmd/relay/internal/store":          "cmd/relay/internal/router",
	"cmd/relay/internal/store/storerig": "cmd/relay/internal/router cmd/relay/internal/store",
	"cmd/relay/internal/tools":          "cmd/relay/internal/api cmd/relay/internal/router",
	"cmd/relay/internal/vigil":          "cmd/relay/internal/api cmd/relay/internal/router",
	"cmd/relay/internal/wiring":         "cmd/relay/internal/hook",
	"protocol/failpoint":                "",
	"protocol/counts":                   "",
	"protocol/signals":                  "protocol/process",
	"protocol":                          "",
	"protocol/regular":                  "",
	"protocol/own":                      "protocol protocol/dirwatch protocol/regular",
	"protocol/dirwatch":                 "",
	"protocol/process":                  "",
	"protocol/sock":                     "protocol protocol/own protocol/process protocol/dirwatch protocol/regular",
	"protocol/registry":                 "protocol protocol/own protocol/process protocol/dirwatch protocol/regular protocol/sock",
}

// tools are the packages of tests, which may import what they try. No product package may import
// one of them, but those that run agents offline may import what is for that; it is in layers.
const tools = "cmd/internal/"

// router is what the program relay may import of what the wrapper is made of: its words and its
// data, never its queue, its terminal or its injector.
const router = "protocol protocol/dirwatch protocol/own protocol/process protocol/registry protocol/regular protocol/signals protocol/sock protocol/version parser inject/agents inject/profile"

// agents are the packages of one agent, by what stands behind inject/agents/NAME, with what each
// may import; lists are the packages that import one of each agent.
var (
	agents = map[string]string{
		"":    "inject/draft inject/profile inject/ready",
		"log": "parser parser/sqlite parser/transcript parser/transcript/proc",
		"rig": "inject/agents/rig",
	}
	lists = map[string]string{"inject/agents": "", "inject/agents/logs": "log", "cmd/internal/agentrig": "rig"}
)

// agentsOwn is what kind of package of an agent's a package is.
func agentsOwn(pkg string) (kind string, is bool) {
	own, is := strings.CutPrefix(pkg, "inject/agents/")
	name, kind, _ := strings.Cut(own, "/")
	return kind, is && name != "logs" && name != "rig"
}

// may reports whether a package may import another one of ours.
func may(pkg, our string) bool {
	if kind, is := agentsOwn(our); is {
		if listed, lists := lists[pkg]; lists {
			return kind == listed
		}
	}
	kind, is := agentsOwn(pkg)
	return slices.Contains(allowed(pkg), our) || is && slices.Contains(strings.Fields(agents[kind]), our)
}

// allowed is what a package may import.
func allowed(pkg string) []string {
	if pkg == "cmd/relay" || strings.HasPrefix(pkg, "cmd/relay/") {
		return append(strings.Fields(router), strings.Fields(layers[pkg])...)
	}
	return strings.Fields(layers[pkg])
}

// owners lists libraries that only one package may import, or two for files of their own.
var owners = map[string]string{
	"github.com/creack/pty": "pty",
	"modernc.org/sqlite":    "cmd/relay/internal/store",

	"github.com/modelcontextprotocol/go-sdk/jsonrpc": "cmd/relay/internal/tools",
	"github.com/modelcontextprotocol/go-sdk/mcp":     "cmd/relay/internal/tools",
	"github.com/google/jsonschema-go/jsonschema":     "cmd/relay/internal/tools",

	"github.com/fsnotify/fsnotify": "protocol/dirwatch",
	"github.com/BurntSushi/toml":   "cmd/relay/internal/settings",
}

const (
	maxFunc    = 70
	maxFile    = 500
	maxPackage = 2500
	maxComment = 100 // columns, but for examples of the wire
)

func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		pkg := strings.TrimPrefix(f[0], "relay-pty/")
		for _, imp := range f[1:] {
			if owner, ok := owners[imp]; ok && !slices.Contains(strings.Fields(owner), pkg) {
				t.Errorf("%s imports %s, which belongs to %s", pkg, imp, owner)
			}
			our, ok := strings.CutPrefix(imp, "relay-pty/")
			if _, listed := layers[pkg]; !ok || strings.HasPrefix(pkg, tools) && !listed {
				continue
			}
			seen++
			if !may(pkg, our) {
				t.Errorf("%s must not import %s", pkg, our)
			}
		}
	}
	if seen == 0 {
		t.Error("no import of our own was seen: the test looks at nothing")
	}
}

// larger are packages of more lines: cmd/relay has a small file for each of thirty commands, router
// all that is decided about messages and agents, and the stages of inject share what an attempt is.
var larger = map[string]int{"cmd/relay": 3400, "cmd/relay/internal/router": 2650, "inject": 2600}

// streams are the files of programs that name standard output or error, and what for. All that is
// told there to people goes through one writer, [protocol.Shown], which run makes.
var streams = map[string]string{
	"cmd/relay/main.go":                  "main gives them to run",
	"cmd/relay-pty/main.go":              "main gives them to run",
	"cmd/relay-pty-check/main.go":        "main gives them to run",
	"cmd/relay-pty/flags.go":             "asks whether it is a terminal",
	"cmd/relay/internal/hook/hook.go":    "an agent reads them, JSON or what its wrapper would type",
	"cmd/relay/examples/receive/main.go": "a program of its own",
}

// TestOneWriter: nothing but what makes the writer names standard output or error.
func TestOneWriter(t *testing.T) {
	seen := map[string]bool{}
	naming := regexp.MustCompile(`\bos\.Std(out|err)\b|\bfmt\.Print|\blog\.(Print|Fatal|Panic)|[^.\w]println\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		ofTests := strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, tools) || strings.HasSuffix(filepath.Dir(path), "rig")
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || ofTests {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range strings.Split(string(src), "\n") {
			if !naming.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			if seen[path] = true; streams[path] == "" {
				t.Errorf("%s writes past protocol.Shown: %s", path, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range streams {
		if !seen[path] {
			t.Errorf("%s names no stream any more", path)
		}
	}
}

// TestShape bounds the length of functions, files and packages, and keeps
// sleeps out of all code, tests included, but for fake time in a bubble.
func TestShape(t *testing.T) {
	packages := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bytes.Count(src, []byte("\n"))
		isTest := strings.HasSuffix(path, "_test.go")
		if !isTest {
			packages[filepath.Dir(path)] += lines
			if lines > maxFile {
				t.Errorf("%s has %d lines, want at most %d", path, lines, maxFile)
			}
		}
		checkFile(t, path, src, isTest)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, lines := range packages {
		if most := cmp.Or(larger[dir], maxPackage); lines > most {
			t.Errorf("package %s has %d lines, want at most %d", dir, lines, most)
		}
	}
}

func checkFile(t *testing.T, path string, src []byte, isTest bool) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, 0)
	if err != nil {
		t.Errorf("parse: %v", err)
		return
	}
	for n, line := range strings.Split(string(src), "\n") {
		comment := strings.TrimLeft(line, "\t")
		width := 4*(len(line)-len(comment)) + utf8.RuneCountInString(comment)
		if width > maxComment && strings.HasPrefix(comment, "// ") && !strings.HasPrefix(comment, "//  ") {
			t.Errorf("%s:%d: the comment is %d columns wide, want at most %d", path, n+1, width, maxComment)
		}
	}
	bubble := isTest && bytes.Contains(src, []byte(`"testing/synctest"`))
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1
			if lines > maxFunc && !isTest {
				t.Errorf("%s: func %s has %d lines, want at most %d", path, n.Name.Name, lines, maxFunc)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && n.Sel.Name == "Sleep" && !bubble {
				t.Errorf("%s: time.Sleep: wait for the event instead", fset.Position(n.Pos()))
			}
		}
		return true
	})
}

// TestLinkingCost keeps the wrapper small and quick to start: no package that
// pays at start-up for what a wrapper never does, and a bound on the binary.
func TestLinkingCost(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/relay-pty").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	banned := []string{"github.com/mattn/go-runewidth", "github.com/charmbracelet", "net/http", "testing", "relay-pty/cmd/internal", "relay-pty/inject/agents/rig"}
	for line := range strings.Lines(string(out)) {
		for _, b := range banned {
			if dep := strings.TrimSpace(line); dep == b || strings.HasPrefix(dep, b+"/") {
				t.Errorf("relay-pty links %s", dep)
			}
		}
	}
	bin := filepath.Join(t.TempDir(), "relay-pty")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/relay-pty")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	const maxBinary = 8 << 20
	t.Logf("stripped binary: %d bytes", info.Size())
	if info.Size() > maxBinary {
		t.Errorf("stripped binary has %d bytes, want at most %d", info.Size(), maxBinary)
	}
	if b, err := os.ReadFile(bin); err != nil || bytes.Contains(b, []byte("RELAY_FAILPOINT")) {
		t.Errorf("stripped binary has the failpoints (%v)", err)
	}
	checkInits(t, bin)
}

// checkInits fails when one package allocates much before main: the mark of
// tables that are built at every start.
func checkInits(t *testing.T, bin string) {
	cmd := exec.Command(bin, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s --version: %v", bin, err)
	}
	const maxInit = 256 << 10 // bytes
	n := 0
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		f := strings.Fields(sc.Text()) // init NAME @T ms, D ms clock, B bytes, A allocs
		if len(f) < 9 || f[0] != "init" {
			continue
		}
		n++
		if b := f[7]; len(b) > 6 || len(b) == 6 && b > "262144" {
			t.Errorf("init of %s allocates %s bytes, want at most %d", f[1], b, maxInit)
		}
	}
	if n == 0 {
		t.Error("no init was traced: the test looks at nothing")
	}
}
