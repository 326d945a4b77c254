// Package house holds the rules that a compiler does not check. They say which package may import
// which, and how long a file, a function or a line of text may be.
package house

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	module = "ompp-attach"
	root   = "../.."
)

// pkg is what `go list -json` tells of a package.
type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

// allowedImports reads the table of packages in docs/packages.md, so that what
// the page says is what holds: | `package`, ... | purpose | `may`, `import`, `below/...` |.
func allowedImports(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "docs", "packages.md"))
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([a-z0-9/.-]+)`")
	table := map[string][]string{}
	var names []string // of the last row that has any
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			continue
		}
		may := []string{}
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			may = append(may, m[1])
		}
		if strings.Contains(cells[3], "all") {
			may = append(may, "all")
		}
		if row := quoted.FindAllStringSubmatch(cells[1], -1); row != nil {
			names = nil
			for _, m := range row {
				names = append(names, m[1])
			}
		}
		for _, name := range names {
			table[name] = append(table[name], may...)
		}
	}
	if len(table) < 8 {
		t.Fatalf("docs/packages.md: found %d packages in its table; has its form changed?", len(table))
	}
	return table
}

// allows reports whether a list has a package, or a pattern that has it: a/... has what is below a.
func allows(may []string, name string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		above, isPattern := strings.CutSuffix(m, "/...")
		return m == name || isPattern && strings.HasPrefix(name, above+"/") && !forTests(name)
	})
}

func inModule(imports []string) (names []string) {
	for _, i := range imports {
		if s, ok := strings.CutPrefix(i, module+"/"); ok {
			names = append(names, s)
		}
	}
	return names
}

// forTests reports whether a package serves tests only.
func forTests(name string) bool {
	return strings.HasPrefix(name, "internal/") || strings.HasSuffix(name, "test") || name == "e2e"
}

func TestImportDirections(t *testing.T) {
	table := allowedImports(t)
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		may, ok := table[name]
		if !ok {
			t.Errorf("package %s is not in docs/packages.md's table: say there what it is for and what it may import", name)
			continue
		}
		for _, i := range inModule(p.Imports) {
			if slices.Contains(may, "all") && !forTests(i) || allows(may, i) {
				continue
			}
			t.Errorf("%s imports %s: docs/packages.md allows it %v", name, i, may)
		}
		// Tests may use the test helpers, themselves, what the package may, and the engine: it
		// makes profiles of recorded streams of events.
		for _, i := range inModule(append(p.TestImports, p.XTestImports...)) {
			if i == name || i == "attribution" || i == "attribution/stream" || forTests(i) || allows(may, i) || slices.Contains(may, "all") {
				continue
			}
			t.Errorf("tests of %s import %s: docs/packages.md allows the package %v", name, i, may)
		}
	}
}

// TestPurity: code that computes from events and profiles must run without root and without a
// kernel. So it may not reach BPF over any path. The leaf uses the standard library only.
func TestPurity(t *testing.T) {
	impure := []string{"github.com/cilium/ebpf", "golang.org/x/sys/unix", module + "/bpf", "net", "os/exec"}
	banned := map[string][]string{
		"attribution": impure,
		"profile":     impure,
		"timeline":    impure,
		"analysis":    impure,
		"efficiency":  impure,
		"model":       impure,
		"system":      impure,
		"job":         impure,
		"severity":    impure,
		"forecast":    impure,
		"signature":   impure,
		"compare":     impure,
		"live":        impure,
		"report":      {"github.com/cilium/ebpf", module + "/bpf"},
		"symbols":     {"github.com/cilium/ebpf"},
	}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		list := banned[name]
		if strings.HasPrefix(name, "attribution/") || strings.HasPrefix(name, "job/") || strings.HasPrefix(name+"/", "probes/disasm/") {
			list = impure
		}
		for _, b := range list {
			if slices.Contains(p.Deps, b) {
				t.Errorf("%s depends on %s", name, b)
			}
		}
		if name != "event" {
			continue
		}
		for _, d := range p.Deps {
			if strings.Contains(strings.SplitN(d, "/", 2)[0], ".") {
				t.Errorf("event depends on %s: it may use the standard library only", d)
			}
		}
	}
}

// A file is for one thing; one that outgrows the limit holds several.
const (
	wantedLines = 400
	mostLines   = 500

	mostPackage = 4000
)

func TestFileLengths(t *testing.T) {
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") && name != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".c", ".h"}, path.Ext(base)) || strings.Contains(base, "_bpfel") {
			return nil
		}
		n, err := lines(name)
		switch {
		case err != nil:
			return err
		case n > mostLines:
			t.Errorf("%s has %d lines, at most %d are allowed: split it", name, n, mostLines)
		case n > wantedLines:
			t.Logf("%s has %d lines, more than the %d aimed at", name, n, wantedLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackageLengths: a package has one concern. One of more than mostPackage lines, without tests
// and generated code, mostly has two.
func TestPackageLengths(t *testing.T) {
	sum := map[string]int{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") && name != root):
			return filepath.SkipDir
		case d.IsDir() || path.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, "_bpfel.go"):
			return nil
		}
		n, err := lines(name)
		sum[filepath.Dir(name)] += n
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range sum {
		if n > mostPackage {
			t.Errorf("%s has %d lines, at most %d are allowed: move a concern into a package of its own", dir, n, mostPackage)
		}
	}
	if len(sum) < 8 {
		t.Errorf("only %d packages were found", len(sum))
	}
}

func lines(name string) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); ; n++ {
		if !s.Scan() {
			return n, s.Err()
		}
	}
}

// TestNamedFilesExist: the files that the documents for developers and the comments name are there.
func TestNamedFilesExist(t *testing.T) {
	var code []string
	bases := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (base == "bin" || base == "node_modules" || strings.HasPrefix(base, ".") && name != root):
			return filepath.SkipDir
		case !d.IsDir():
			bases[base] = true
			if path.Ext(base) == ".go" {
				code = append(code, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	exists := func(from, name string) bool {
		if !strings.Contains(name, "/") {
			return bases[name]
		}
		for _, dir := range []string{root, from, filepath.Dir(from)} {
			if found, err := filepath.Glob(filepath.Join(dir, name)); err == nil && len(found) > 0 {
				return true
			}
		}
		return false
	}
	named := 0
	check := func(file, from string, names *regexp.Regexp) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(b), "\n") {
			_, line, _ = strings.Cut(line, from)
			for _, m := range names.FindAllStringSubmatch(line, -1) {
				if named++; !exists(filepath.Dir(file), m[1]) {
					t.Errorf("%s:%d names %s, which does not exist", file, n+1, m[1])
				}
			}
		}
	}
	for _, doc := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		check(filepath.Join(root, doc), "", regexp.MustCompile("`([\\w./*-]+(?:/[\\w.*-]+|\\.(?:go|c|h|md|sh)))`"))
	}
	comment := regexp.MustCompile(`[\s(]((?:\w+/)*\w+\.go)\b`)
	for _, name := range code {
		check(name, "//", comment)
	}
	if named < 100 {
		t.Errorf("only %d names were found", named)
	}
}

// TestDocumentsHaveTitles: each document begins with its title. None was left empty by mistake.
func TestDocumentsHaveTitles(t *testing.T) {
	top, _ := filepath.Glob(filepath.Join(root, "*.md"))
	docs, _ := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if len(top) < 4 || len(docs) < 10 {
		t.Errorf("only %d and %d documents were found", len(top), len(docs))
	}
	for _, name := range append(top, docs...) {
		if b, err := os.ReadFile(name); err != nil || !bytes.HasPrefix(b, []byte("# ")) {
			t.Errorf("%s does not begin with a title: %v", name, err)
		}
	}
}

// TestSchemaDocumented: docs/schema.md names every field of the recorded
// profile.
func TestSchemaDocumented(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(root, "profile", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var types []byte
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, b...)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "schema.md"))
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`json:"([a-z_]+)`).FindAllSubmatch(types, -1)
	if len(tags) < 30 {
		t.Fatalf("found %d JSON fields in package profile; has their form changed?", len(tags))
	}
	for _, m := range tags {
		if !bytes.Contains(doc, []byte("`"+string(m[1])+"`")) {
			t.Errorf("docs/schema.md does not mention the field `%s`", m[1])
		}
	}
}

// TestOneDoor: package files opens the files with names that come from others. Package files does
// not wait for a FIFO, and does not read the kernel's own files without end.
func TestOneDoor(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(Open|OpenFile|ReadFile)\(|\belf\.Open\(|\bfilepath\.EvalSymlinks\(`)
	own := regexp.MustCompile(`"/proc/|\bproc \+ "/`) // the kernel's, by our own names
	for _, dir := range []string{"symbols", "symbols/directives", "symbols/debuginfo", "symbols/unwind", "regions", "probes", "probes/callgraph", "probes/disasm", "probes/disasm/*",
		"probes/gomp", "probes/kmpc", "probes/tgt", "probes/openmp", "probes/mpilib", "probes/mpilib/handles", "probes/inline",
		"attribution", "attribution/*", "profile", "analysis", "job", "job/*", "report", "page", "debuginfod"} {
		names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files (%v)", dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || forTests(filepath.Dir(name)) {
				continue
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for n, line := range strings.Split(string(b), "\n") {
				if opens.MatchString(line) && !own.MatchString(line) {
					t.Errorf("%s:%d opens a file by itself: use package files", name, n+1)
				}
			}
		}
	}
}
