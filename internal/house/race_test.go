package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRaceDetector: the race detector runs tests of each package that starts goroutines. It can
// find nothing in other packages, whose tests it makes ten times as long.
func TestRaceDetector(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var raced []string
	for _, line := range regexp.MustCompile(`(?m)^RACE(?:_BRIEFLY)? = (.*)$`).FindAllSubmatch(b, -1) {
		for _, p := range strings.Fields(string(line[1])) {
			p = strings.TrimPrefix(p, "./")
			raced = append(raced, p, strings.TrimSuffix(p, "/..."))
		}
	}
	starting := 0
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if forTests(name) || !startsGoroutines(t, filepath.Join(root, name)) {
			continue
		}
		starting++
		if !allows(raced, name) {
			t.Errorf("%s starts goroutines: add it to RACE in the Makefile", name)
		}
	}
	if starting < 3 {
		t.Errorf("%d packages start goroutines: are they still found?", starting)
	}
}

// startsGoroutines looks for go statements and calls of a method Go in a folder's files, those of
// tests left out.
func startsGoroutines(t *testing.T, dir string) (starts bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, "_test.go") }) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.SelectorExpr:
				starts = starts || n.Sel.Name == "Go"
			}
			return true
		})
	}
	return starts
}
