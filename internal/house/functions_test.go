package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// mostFunction is how many lines a function may have, its braces included. A longer one mostly has
// parts that deserve names.
const mostFunction = 65

// TestFunctionLengths: a function does one thing. Those of tests are left out: tables of cases
// stand in them.
func TestFunctionLengths(t *testing.T) {
	found := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (base == "testdata" || base == "bin" || base == "node_modules" || strings.HasPrefix(base, ".") && name != root):
			return filepath.SkipDir
		case d.IsDir() || path.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, "_bpfel.go"):
			return nil
		}
		if dir, err := filepath.Rel(root, filepath.Dir(name)); err != nil || forTests(filepath.ToSlash(dir)) {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			found++
			begin := fset.Position(fn.Pos())
			n := fset.Position(fn.End()).Line - begin.Line + 1
			if n > mostFunction {
				t.Errorf("%s:%d: %s has %d lines, at most %d are allowed: split it", name, begin.Line, fn.Name.Name, n, mostFunction)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 1000 {
		t.Errorf("only %d functions were found", found)
	}
}
