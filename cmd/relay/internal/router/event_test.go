package router

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEventTypesAreAll: each constant of this package that names a type of event is in the list by
// which readers are told that a type does not exist.
func TestEventTypesAreAll(t *testing.T) {
	files, err := os.ReadDir(".")
	must(t, err)
	seen, known := 0, EventTypes()
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "Type") || len(spec.Values) != 1 {
				return true
			}
			if word, ok := spec.Values[0].(*ast.BasicLit); ok {
				seen++
				if kind, _ := strconv.Unquote(word.Value); !slices.Contains(known, kind) {
					t.Errorf("%s is %s, which EventTypes does not list", spec.Names[0].Name, word.Value)
				}
			}
			return true
		})
	}
	if seen < 10 {
		t.Errorf("only %d types were seen", seen)
	}
}
