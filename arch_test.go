package relay_test

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers lists which of our own packages each package may import. A package
// that is not listed may import none; cmd may import all.
var layers = map[string]string{
	"pty":                        "pty/screen pty/term",
	"pty/screen":                 "pty/screen/grid pty/screen/vt pty/screen/width",
	"pty/screen/grid":            "",
	"pty/screen/vt":              "",
	"pty/screen/width":           "",
	"pty/term":                   "",
	"inject":                     "inject/ready inject/draft inject/profile inject/prompt inject/turn inject/view",
	"inject/view":                "inject/ready inject/draft inject/profile",
	"inject/prompt":              "",
	"inject/turn":                "inject/profile",
	"inject/ready":               "",
	"inject/draft":               "inject/draft/stroke",
	"inject/draft/stroke":        "",
	"inject/profile":             "inject/ready inject/profile/keys pty/screen",
	"inject/profile/keys":        "",
	"parser":                     "parser/ansi",
	"parser/ansi":                "",
	"parser/sqlite":              "",
	"parser/transcript":          "parser/transcript/entry parser/transcript/opencode parser/transcript/proc",
	"parser/transcript/entry":    "parser",
	"parser/transcript/opencode": "parser/sqlite parser/transcript/entry parser/transcript/proc",
	"parser/transcript/proc":     "",
	"queue":                      "protocol",
	"queue/journal":              "protocol queue",
	"protocol":                   "",
	"protocol/sock":              "protocol",
}

// owners lists libraries that only one package may import.
var owners = map[string]string{
	"github.com/creack/pty": "pty",
	"go.etcd.io/bbolt":      "queue/journal",
}

const (
	maxFunc    = 70
	maxFile    = 500
	maxPackage = 2500
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
			if owner, ok := owners[imp]; ok && pkg != owner {
				t.Errorf("%s imports %s, which belongs to %s", pkg, imp, owner)
			}
			our, ok := strings.CutPrefix(imp, "relay-pty/")
			if !ok || strings.HasPrefix(pkg, "cmd/") {
				continue
			}
			seen++
			if !slices.Contains(strings.Fields(layers[pkg]), our) {
				t.Errorf("%s must not import %s", pkg, our)
			}
		}
	}
	if seen == 0 {
		t.Error("no import of our own was seen: the test looks at nothing")
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
		if lines > maxPackage {
			t.Errorf("package %s has %d lines, want at most %d", dir, lines, maxPackage)
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
	banned := []string{"github.com/mattn/go-runewidth", "github.com/charmbracelet", "net/http", "testing", "relay-pty/cmd/internal"}
	for line := range strings.Lines(string(out)) {
		for _, b := range banned {
			if dep := strings.TrimSpace(line); dep == b || strings.HasPrefix(dep, b+"/") {
				t.Errorf("relay-pty links %s", dep)
			}
		}
	}
	bin := filepath.Join(t.TempDir(), "relay-pty")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./cmd/relay-pty").CombinedOutput(); err != nil {
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
