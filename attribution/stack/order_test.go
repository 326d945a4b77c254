package stack

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// levels returns, by file, the number of the item in doc.go's list that names the file.
func levels(t *testing.T) map[string]int {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]int{}
	for n, item := range regexp.MustCompile(`(?m)^//   - .*$`).FindAllString(string(doc), -1) {
		for _, file := range regexp.MustCompile(`\w+\.go`).FindAllString(item, -1) {
			of[file] = n
		}
	}
	return of
}

// TestOrderOfFiles: doc.go lists the package's files. Each file uses only declarations of files
// above its own item of the list, or of the same item.
func TestOrderOfFiles(t *testing.T) {
	level, fset := levels(t), token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if name == "doc.go" || regexp.MustCompile(`_test\.go$`).MatchString(name) {
			continue
		}
		if _, listed := level[name]; !listed {
			t.Errorf("doc.go does not list %s", name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// Other packages are not read: uses of this package's declarations are known without them.
	none := func(string) (io.ReadCloser, error) { return nil, errors.New("not read") }
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", none), Error: func(error) {}}
	pkg, _ := config.Check("stack", fset, files, &info)
	uses := 0
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		user, used := fset.Position(id.Pos()), fset.Position(o.Pos())
		if user.Filename != used.Filename {
			uses++
		}
		if level[used.Filename] > level[user.Filename] {
			t.Errorf("%v uses %s of %s, which doc.go lists below", user, id.Name, used.Filename)
		}
	}
	if uses < 500 {
		t.Errorf("%d uses were found: too few", uses)
	}
}
