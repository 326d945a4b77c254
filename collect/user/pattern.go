package user

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ompp-attach/collect/target"
	"ompp-attach/symbols"
)

// pattern selects functions by NAME or by a regular expression. @FILE may follow either of them.
type pattern struct {
	text    string
	name    string         // a plain name; it matches itself only
	regex   *regexp.Regexp // if name is ""; it may match any part of a function's name
	file    string         // beginning of a base name; "": the program and its own libraries
	matched bool
	near    []near // similar names of functions, the most similar first
	system  string // a system library that has a function of this name
	inlined []string
}

type near struct {
	name     string
	distance int
}

func parsePattern(text string) (*pattern, error) {
	p := &pattern{text: text}
	expr := text
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		expr, p.file = text[:at], text[at+1:]
		if p.file == "" {
			return nil, fmt.Errorf("--function %s: no file is named after the @: write NAME@libfoo.so, or leave the @ out", text)
		}
	}
	if expr == "" {
		return nil, fmt.Errorf("--function %q names no function: write a name, or '.' for all", text)
	}
	if regexp.QuoteMeta(expr) == expr {
		p.name = expr
		return p, nil
	}
	var err error
	if p.regex, err = regexp.Compile(expr); err != nil {
		return nil, fmt.Errorf("--function %s is no regular expression that Go knows (%w): quote it from the shell, and write \\( for a bracket that is meant as such", text, err)
	}
	return p, nil
}

// covers tells whether the pattern selects functions in this file.
func (p *pattern) covers(mod *symbols.Module) bool {
	if p.file == "" {
		// Libc can be executed, too.
		return !target.IsSystem(mod.Path) || mod.Object().IsExecutable() && !strings.Contains(filepath.Base(mod.Path), ".so")
	}
	return strings.HasPrefix(filepath.Base(mod.Path), p.file)
}

// matches tells whether one of a function's names is selected. A plain name also matches with a
// scope before it (solve: Grid::solve). NAME:: matches all names in that scope.
func (p *pattern) matches(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if p.regex != nil {
			return p.regex.MatchString(n)
		}
		return n == p.name || strings.HasSuffix(n, "::"+p.name) || strings.HasSuffix(p.name, "::") && strings.HasPrefix(n, p.name)
	})
}

// suggest remembers a name if it is among the three most similar ones.
func (p *pattern) suggest(name string) {
	const keep = 3
	d := p.distance(name)
	if d < 0 || slices.ContainsFunc(p.near, func(n near) bool { return n.name == name }) {
		return
	}
	at := slices.IndexFunc(p.near, func(n near) bool { return d < n.distance })
	if at < 0 {
		at = len(p.near)
	}
	if at < keep {
		p.near = slices.Insert(p.near, at, near{name, d})
		p.near = p.near[:min(len(p.near), keep)]
	}
}

// distance is how much a name differs from the name that the pattern seems to mean; -1 if it
// differs too much.
func (p *pattern) distance(name string) int {
	want := p.name
	if p.regex != nil {
		want = longestLiteral(p.regex.String())
	}
	if want == "" {
		return -1
	}
	want = strings.ToLower(want)
	name = strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])
	if strings.Contains(name, want) || len(name) > 3 && strings.Contains(want, name) {
		return 1
	}
	d := editDistance(want, name)
	if d > max(1, len(want)/3) {
		return -1
	}
	return d
}

// longestLiteral is the longest run of letters, digits and underscores.
func longestLiteral(expr string) (best string) {
	for _, w := range strings.FieldsFunc(expr, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		if len(w) > len(best) {
			best = w
		}
	}
	return best
}

// editDistance is Levenshtein's distance, in which a swap of neighbouring characters counts once.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

// unmatched says that a pattern selected nothing, and what may have been meant.
func (p *pattern) unmatched() string {
	where := "the program and its own libraries"
	if p.file != "" {
		where = "any file whose name begins with " + p.file
	}
	s := fmt.Sprintf("--function %s matches no function of %s", p.text, where)
	switch {
	case len(p.inlined) > 0:
		return fmt.Sprintf("%s that has code of its own: the compiler inlined all calls of %s; build with -fno-inline, or mark it __attribute__((noinline))", s, strings.Join(p.inlined, ", "))
	case p.system != "":
		return fmt.Sprintf("%s, but %s has it: write --function %s@%s", s, p.system, p.text, filepath.Base(p.system))
	case len(p.near) > 0:
		var names []string
		for _, n := range p.near {
			names = append(names, n.name)
		}
		return fmt.Sprintf("%s; near names: %s", s, strings.Join(names, ", "))
	}
	return s + "; `nm -C FILE` lists the functions that a file names"
}
