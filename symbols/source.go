package symbols

import (
	"debug/dwarf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Directive is an OpenMP directive in a source file together with the
// statement or block that it governs.
type Directive struct {
	Words string // its lower-case name, e.g. "parallel for", "critical"; Fortran's own, e.g. "parallel do"
	Name  string // of a named critical section
	// Clauses is what follows the name, in lower case.
	Clauses string
	Begin   int // line of the directive
	Last    int // last line of the directive itself, greater than Begin with continuation lines
	End     int // last line of its block (closing brace, end directive, statement); Last if it governs none
}

// Matches reports whether the directive's name starts with the wanted words.
// Callers ask in C's terms, so "for" also finds Fortran's "do".
func (d Directive) Matches(wanted string) bool {
	w, have := strings.Fields(wanted), strings.Fields(d.Words)
	if len(w) > len(have) {
		return false
	}
	for i := range w {
		if w[i] != have[i] && !(w[i] == "for" && have[i] == "do") {
			return false
		}
	}
	return true
}

// maxSource bounds the size of a source file worth reading, in bytes.
const maxSource = 16 << 20

// sourceCache keeps the directives of the files asked for; nil for a file that
// cannot be used.
type sourceCache struct {
	mu    sync.Mutex
	files map[string][]Directive
}

// Directives returns the OpenMP directives of a source file in textual order.
// A relative name is looked up in the directories in which the object's units
// were compiled. ok is false where the file is missing, or newer than the
// object: its lines then need not be those that were compiled.
func (o *Object) Directives(file string) (ds []Directive, ok bool) {
	o.sources.mu.Lock()
	defer o.sources.mu.Unlock()
	ds, ok = o.sources.files[file]
	if !ok {
		ds = o.readSource(file)
		if o.sources.files == nil {
			o.sources.files = map[string][]Directive{}
		}
		o.sources.files[file] = ds
	}
	return slices.Clone(ds), ds != nil
}

// SourceExtent returns the lines of the innermost OpenMP construct whose
// directive starts with the given words ("critical", "parallel", "for",
// "parallel for"; "" for any) and which stands at or encloses the given line.
// begin is the line of the directive, end that of the closing brace, end
// directive or last line of the statement. ok is false where there is no such
// construct or Directives refuses the file.
func (o *Object) SourceExtent(file string, line int, directive string) (begin, end int, ok bool) {
	ds, _ := o.Directives(file)
	d, ok := enclosing(ds, line, directive)
	return d.Begin, d.End, ok
}

// enclosing finds the last directive that begins at or before line and ends at
// or after it.
func enclosing(ds []Directive, line int, words string) (best Directive, ok bool) {
	for _, d := range ds {
		if d.Begin <= line && line <= d.End && d.Matches(words) && (!ok || d.Begin >= best.Begin) {
			best, ok = d, true
		}
	}
	return best, ok
}

// readSource returns nil for a file that cannot be used, and an empty slice
// for one without directives.
func (o *Object) readSource(file string) []Directive {
	for _, path := range o.sourcePaths(file) {
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxSource {
			continue
		}
		if st.ModTime().After(o.mtime) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		return parseDirectives(file, string(text))
	}
	return nil
}

// parseDirectives chooses the language by the file's name, as compilers do.
func parseDirectives(file, text string) []Directive {
	ds := []Directive{}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".f", ".for", ".ftn", ".fpp", ".f77":
		return append(ds, fortranDirectives(text, true)...)
	case ".f90", ".f95", ".f03", ".f08", ".f18":
		return append(ds, fortranDirectives(text, false)...)
	}
	return append(ds, cDirectives(text)...)
}

// sourcePaths returns where a source file may be: in the file system that the
// process sees first, then in ours.
func (o *Object) sourcePaths(file string) (paths []string) {
	names := []string{file}
	if !filepath.IsAbs(file) {
		names = nil
		for _, dir := range o.dwarf().compileDirs(file) {
			names = append(names, filepath.Join(dir, file))
		}
	}
	root, _ := splitRoot(o.path)
	for _, n := range names {
		if root != "" {
			paths = append(paths, root+n)
		}
		paths = append(paths, n)
	}
	return paths
}

// compileDirs returns the distinct DW_AT_comp_dir of the units, that of the
// unit compiled from file first.
func (x *dwarfIndex) compileDirs(file string) (dirs []string) {
	if x == nil {
		return nil
	}
	for _, u := range x.units {
		e := u.entry()
		if e == nil {
			continue
		}
		dir, _ := e.Val(dwarf.AttrCompDir).(string)
		name, _ := e.Val(dwarf.AttrName).(string)
		switch {
		case !filepath.IsAbs(dir):
		case name == file:
			dirs = append([]string{dir}, dirs...)
		case !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
