package house

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how long a line of text may be: of a comment, or of a document. A tab counts as four.
const columns = 100

func width(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

// longGo returns the numbers of the lines of Go source that hold a comment and are too long.
// Directives such as //go:generate cannot be broken.
func longGo(src []byte) (long []int) {
	lines := strings.Split(string(src), "\n")
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return slices.Compact(long)
		}
		if tok != token.COMMENT || strings.HasPrefix(text, "//go:") {
			continue
		}
		first := file.Line(pos)
		for n := first; n <= first+strings.Count(text, "\n"); n++ {
			if width(lines[n-1]) > columns {
				long = append(long, n)
			}
		}
	}
}

// tokenC matches what of C's text tells where comments are: a literal, in which // and /* begin no
// comment, and the marks of comments.
var tokenC = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|//|/\*|\*/`)

// longC returns the numbers of the lines of C source that hold a comment and are too long.
func longC(src []byte) (long []int) {
	inside := false // a block comment
	for n, line := range strings.Split(string(src), "\n") {
		comment := inside
	marks:
		for _, mark := range tokenC.FindAllString(line, -1) {
			switch {
			case inside:
				inside = mark != "*/"
			case mark == "//":
				comment = true
				break marks
			case mark == "/*":
				inside, comment = true, true
			}
		}
		if comment && width(line) > columns {
			long = append(long, n+1)
		}
	}
	return long
}

// target matches where a link of Markdown leads to.
var target = regexp.MustCompile(`\]\([^)]*\)|<https?:[^>]*>|https?://\S+`)

// longMarkdown returns the numbers of the lines of a document's text that are too long. Code,
// tables and the targets of links cannot be broken.
func longMarkdown(src []byte) (long []int) {
	fenced := false
	for n, line := range strings.Split(string(src), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "    "), strings.HasPrefix(trimmed, "|"):
		case width(target.ReplaceAllString(line, "]")) > columns:
			long = append(long, n+1)
		}
	}
	return long
}

// TestLongLines checks the three functions that TestColumns uses.
func TestLongLines(t *testing.T) {
	const full = 100
	fill := func(head string) string { return head + strings.Repeat("x", full-len(head)) }
	for name, c := range map[string]struct {
		long func(src []byte) []int
		src  string
		want []int
	}{
		"Go: as long as allowed":      {longGo, "package p\n" + fill("// ") + "\n", nil},
		"Go: one more":                {longGo, "package p\n" + fill("// ") + "x\n", []int{2}},
		"Go: behind code":             {longGo, "package p\n" + fill("var v = 1 // ") + "x\n", []int{2}},
		"Go: in a block":              {longGo, "package p\n/*\n" + fill("") + "x\n*/\n", []int{3}},
		"Go: a tab":                   {longGo, "package p\nfunc f() {\n\t" + fill("//")[:98] + "\n}\n", []int{3}},
		"Go: letters, not bytes":      {longGo, "package p\n" + fill("// ")[:99] + "é\n", nil},
		"Go: code may be long":        {longGo, "package p\nvar v = `" + fill("// ") + "`\n", nil},
		"Go: a directive":             {longGo, "package p\n" + fill("//go:generate ") + "x\n", nil},
		"C: as long as allowed":       {longC, fill("// ") + "\n" + fill("/* ")[:98] + "*/\n", nil},
		"C: one more":                 {longC, fill("// ") + "x\n", []int{1}},
		"C: in a block":               {longC, "/* a\n" + fill(" * ") + "x\n */\n" + fill("int ") + "x;\n", []int{2}},
		"C: the block's last line":    {longC, "/* a\n" + fill(" * ") + "x */\n", []int{2}},
		"C: in a literal":             {longC, "s = \"// " + fill("") + "\";\n", nil},
		"C: // in a block":            {longC, "/* see http://x\n" + fill("") + "x\n", []int{2}},
		"Markdown: as long":           {longMarkdown, fill("a ") + "\n", nil},
		"Markdown: one more":          {longMarkdown, fill("a ") + "x\n", []int{1}},
		"Markdown: a list":            {longMarkdown, "- a\n" + fill("  ") + "x\n", []int{2}},
		"Markdown: a table":           {longMarkdown, fill("| ") + "x |\n", nil},
		"Markdown: code":              {longMarkdown, "```\n" + fill("") + "x\n```\n    " + fill("") + "x\n", nil},
		"Markdown: behind code":       {longMarkdown, "```\na\n```\n" + fill("") + "x\n", []int{4}},
		"Markdown: a link's target":   {longMarkdown, "[a](" + fill("https://x/") + ")\n", nil},
		"Markdown: text beside links": {longMarkdown, "[a](b) " + fill("") + "\n", []int{1}},
	} {
		if got := c.long([]byte(c.src)); !slices.Equal(got, c.want) {
			t.Errorf("%s: lines %v are too long, want %v", name, got, c.want)
		}
	}
}

// TestColumns: nobody has to scroll sideways to read a comment or a document. Sources below
// testdata are left out: tests know their line numbers.
func TestColumns(t *testing.T) {
	read := map[string]int{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		base := d.Name()
		if err != nil || d.IsDir() {
			if d.IsDir() && (base == "testdata" || base == "bin" || base == "node_modules" || strings.HasPrefix(base, ".") && name != root) {
				return filepath.SkipDir
			}
			return err
		}
		var long func([]byte) []int
		switch path.Ext(base) {
		case ".go":
			long = longGo
		case ".c", ".h":
			long = longC
		case ".md":
			long = longMarkdown
		}
		if long == nil || strings.Contains(base, "_bpfel") {
			return nil
		}
		read[path.Ext(base)]++
		src, err := os.ReadFile(name)
		for _, n := range long(src) {
			t.Errorf("%s:%d is longer than %d columns: break the line", name, n, columns)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if read[".go"] < 500 || read[".h"]+read[".c"] < 20 || read[".md"] < 20 {
		t.Errorf("only %v files were found", read)
	}
}
