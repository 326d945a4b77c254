package directives

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Directive is an OpenMP directive in a source file, with the statement or block that it governs.
type Directive struct {
	// Words is the directive's name in lower case, such as "parallel for", "critical", or Fortran's
	// "parallel do".
	Words string
	Name  string // of a named critical section
	Begin int    // line of the directive
	Last  int    // last line of the directive itself, greater than Begin with continuation lines
	// End is the last line of the block (closing brace, end directive, statement). It is Last if
	// the directive governs no block, or if the block is in the file that includes this one.
	End int

	// Clauses is the text after the name, in lower case. In Fortran, the clauses of the end
	// directive follow.
	Clauses string
}

// Matches reports whether the directive's name starts with the wanted words. Callers use the words
// of C, so "for" also finds Fortran's "do".
func (d Directive) Matches(wanted string) bool {
	for have := d.Words; wanted != ""; { // one blank between words, in both
		var w, first string
		w, wanted, _ = strings.Cut(wanted, " ")
		first, have, _ = strings.Cut(have, " ")
		if w != first && !(w == "for" && first == "do") {
			return false
		}
	}
	return true
}

// Overlaps reports whether the blocks of two directives share lines. If they do, one block contains
// the other, or both directives govern the same block, as in the branches of #if and #else.
func (d Directive) Overlaps(o Directive) bool { return d.Begin <= o.End && o.Begin <= d.End }

// Parse returns the directives of a source file, in the order of the text. The file's name tells
// the language, as it does to compilers.
func Parse(file, text string) []Directive {
	ds := []Directive{}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".f", ".for", ".ftn", ".fpp", ".f77":
		return append(ds, fortranDirectives(text, true)...)
	case ".f90", ".f95", ".f03", ".f08", ".f18":
		return append(ds, fortranDirectives(text, false)...)
	}
	return append(ds, cDirectives(text)...)
}

// DivideSections reports whether the directives that begin at a line divide sections, and not the
// iterations of a loop.
func DivideSections(ds []Directive, line int) (found bool) {
	for _, d := range ds {
		switch {
		case d.Begin != line:
		case d.Matches("for"), d.Matches("parallel for"):
			return false
		case d.Matches("sections"), d.Matches("parallel sections"):
			found = true
		}
	}
	return found
}

// Enclosing finds the last directive that begins at or before a line and ends at or after it. The
// directive's name starts with words.
func Enclosing(ds []Directive, line int, words string) (best Directive, ok bool) {
	for _, d := range ds {
		if d.Begin <= line && line <= d.End && d.Matches(words) && (!ok || d.Begin >= best.Begin) {
			best, ok = d, true
		}
	}
	return best, ok
}

// HandsOut reports whether a loop's clauses make GCC call the runtime for the loop's chunks. With a
// static schedule, GCC's own code computes the chunks.
func (d Directive) HandsOut() bool {
	if m := schedule.FindStringSubmatch(d.Clauses); m != nil && handedOut.MatchString(m[1]) {
		return true
	}
	bare := d.Clauses
	for cut := ""; cut != bare; { // words in parentheses are names
		cut, bare = bare, inParentheses.ReplaceAllString(bare, " ")
	}
	return ordered.MatchString(bare)
}

var (
	schedule      = regexp.MustCompile(`\bschedule\s*\(([^)]*)\)`)
	handedOut     = regexp.MustCompile(`\b(dynamic|guided|runtime)\b`)
	inParentheses = regexp.MustCompile(`\([^()]*\)`)
	ordered       = regexp.MustCompile(`\bordered\b`)
)
