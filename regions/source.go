package regions

import (
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// sourceFile holds the directives of a file, with their nesting.
type sourceFile struct {
	name string
	ds   []directives.Directive
	// owner has, for each directive, the innermost directive around it that has an outlined body;
	// -1: there is none.
	owner    []int
	sections []int // number of section directives in each directive
}

// directive is a directive of a source file.
type directive struct {
	file *sourceFile
	n    int
}

func (d directive) get() *directives.Directive { return &d.file.ds[d.n] }

func (d directive) construct() event.Construct { return constructOf(d.get().Words) }

// holds reports whether a line lies in the directive's construct.
func (d directive) holds(f symbols.Frame) bool {
	x := d.get()
	return f.File == d.file.name && x.Begin <= f.Line && f.Line <= x.End
}

// at reports whether a line is one of the directive's own lines.
func (d directive) at(file string, line int) bool {
	x := d.get()
	return file == d.file.name && x.Begin <= line && line <= x.Last
}

func (d directive) has(clause string) bool {
	for f := range strings.FieldsFuncSeq(d.get().Clauses, func(r rune) bool { return strings.ContainsRune(" ,()\t:", r) }) {
		if f == clause {
			return true
		}
	}
	return false
}

// isStaticLoop reports whether GCC compiles a loop without a call.
func (d directive) isStaticLoop() bool {
	x := d.get()
	if k := constructOf(x.Words); k != event.Loop && k != event.ParallelLoop {
		return false
	}
	return !x.HandsOut()
}

// outlines reports whether the compiler makes a function of the directive's body.
func outlines(words string) bool {
	f := strings.Fields(words)
	for _, w := range f {
		switch w {
		case "cancel", "cancellation", "declare", "begin", "end", "data", "enter", "exit", "update":
			return false
		}
	}
	for _, w := range f {
		switch w {
		case "parallel", "task", "taskloop", "teams", "target":
			return true
		}
	}
	return false
}

// isConstruct reports whether a directive is a construct. Others only declare, or are part of a
// construct.
func isConstruct(words string) bool {
	first, _, _ := strings.Cut(words, " ")
	switch first {
	case "section", "declare", "begin", "end", "threadprivate", "requires", "allocate", "allocators", "nothing", "error",
		"scan", "metadirective", "assume", "assumes", "tile", "unroll":
		return false
	}
	return true
}

func newSourceFile(name string, ds []directives.Directive) *sourceFile {
	s := &sourceFile{name: name, ds: ds, owner: make([]int, len(ds)), sections: make([]int, len(ds))}
	var open []int
	for i, d := range ds {
		for len(open) > 0 && ds[open[len(open)-1]].End < d.End {
			open = open[:len(open)-1]
		}
		s.owner[i] = -1
		for k := len(open) - 1; k >= 0; k-- {
			if outlines(ds[open[k]].Words) {
				s.owner[i] = open[k]
				break
			}
		}
		if d.Words == "section" {
			for k := len(open) - 1; k >= 0; k-- {
				if strings.HasSuffix(ds[open[k]].Words, "sections") {
					s.sections[open[k]]++
					break
				}
			}
		}
		open = append(open, i)
	}
	return s
}

// sources keeps the source files that were asked for.
type sources struct {
	object *symbols.Object
	files  map[string]*sourceFile // nil for one that cannot be used
}

func (s *sources) get(name string) *sourceFile {
	if name == "" {
		return nil
	}
	f, ok := s.files[name]
	if !ok {
		if ds, usable := s.object.Directives(name); usable {
			f = newSourceFile(name, ds)
		}
		s.files[name] = f
	}
	return f
}

// ownDirective finds the directive whose body is an outlined function.
func (s *sources) ownDirective(f *function) (directive, bool) {
	try := func(file string, line int) (directive, bool) {
		src := s.get(file)
		if src == nil || line == 0 {
			return directive{}, false
		}
		for i, d := range src.ds {
			if d.Begin <= line && line <= d.Last && outlines(d.Words) {
				return directive{src, i}, true
			}
		}
		return directive{}, false
	}
	if d, ok := try(f.extent.File, f.extent.Begin); ok {
		return d, true
	}
	if c := f.caller; c != nil && c.hasIdent && f.extent.File != "" {
		return try(f.extent.File, c.ident.Line)
	}
	return s.combinedAround(f.extent.File, f.extent.Begin)
}

// combinedAround finds the innermost directive around a line that is outlined in several steps
// (teams distribute parallel for). g++ gives the inner functions no row for the directive's line.
func (s *sources) combinedAround(file string, line int) (directive, bool) {
	src := s.get(file)
	if src == nil || line == 0 {
		return directive{}, false
	}
	best := -1
	for i, d := range src.ds {
		if d.Begin <= line && line <= d.End && outlines(d.Words) && (best < 0 || d.Begin > src.ds[best].Begin) {
			best = i
		}
	}
	if best < 0 {
		return directive{}, false
	}
	steps := 0
	for _, w := range strings.Fields(src.ds[best].Words) {
		if w == "target" || w == "teams" || w == "parallel" {
			steps++
		}
	}
	return directive{src, best}, steps > 1
}

// scope returns the directives in a function's own text, and in the text of functions that are
// inlined into it. It leaves out directives inside outlined functions. If ok is set, own is the
// directive of the outlined function itself.
func (s *sources) scope(f *function, own directive, ok bool) (ds []directive) {
	seen := map[directive]bool{}
	add := func(d directive) {
		if !seen[d] && isConstruct(d.get().Words) {
			seen[d] = true
			ds = append(ds, d)
		}
	}
	if ok {
		add(own)
		for i, owner := range own.file.owner {
			if owner == own.n {
				add(directive{own.file, i})
			}
		}
	}
	for _, t := range f.texts {
		src := s.get(t.File)
		if src == nil {
			continue
		}
		for i, d := range src.ds {
			if d.Begin < t.First || d.Begin > t.Last {
				continue
			}
			if owner := src.owner[i]; owner >= 0 && src.ds[owner].Begin >= t.First {
				continue // the directive of an outlined function
			}
			add(directive{src, i})
		}
	}
	return ds
}
