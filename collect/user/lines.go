package user

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"ompp-attach/collect/target"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// lineRegion is a region given by lines: NAME=FILE:LINE-LINE.
type lineRegion struct {
	text        string
	name, file  string
	first, last int
	matched     bool
	trouble     string   // why it cannot be placed where its lines are
	sources     []string // files that may have been meant, if no file matches
}

var lineSyntax = regexp.MustCompile(`^([^=]+)=(.+):(\d+)-(?:(.+):)?(\d+)$`)

func parseLines(text string) (*lineRegion, error) {
	m := lineSyntax.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("--region %s: write NAME=FILE:LINE-FILE:LINE, or NAME=FILE:LINE-LINE", text)
	}
	r := &lineRegion{text: text, name: m[1], file: m[2]}
	r.first, _ = strconv.Atoi(m[3])
	r.last, _ = strconv.Atoi(m[5])
	switch {
	case m[4] != "" && m[4] != m[2]:
		return nil, fmt.Errorf("--region %s: it begins in %s and ends in %s: both lines must be in one function, and so in one file", text, m[2], m[4])
	case r.first < 1 || r.last < r.first:
		return nil, fmt.Errorf("--region %s: its last line comes before its first", text)
	}
	return r, nil
}

// findLines finds the probes of regions given by lines.
func (u *Regions) findLines(mod *symbols.Module) (points []probes.CodePoint) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.lines) == 0 || target.IsSystem(mod.Path) {
		return nil
	}
	o := mod.Object()
	for _, r := range u.lines {
		ps := u.placeLines(mod, o, r)
		if len(ps) > 0 {
			r.matched = true
			u.logf("%s: region %s is placed by %d probes", mod.Path, r.name, len(ps))
		}
		points = append(points, ps...)
	}
	return points
}

const (
	noteNearFirst = "its first line has no code of its own: it begins at the next line that has"
	noteMixed     = "the compiler moved instructions across the borders of these lines: an execution may be counted in pieces, or begin and end early or late"
)

// placeLines finds the probes of one region in one file: in each function that
// has code of its first line, inlined copies included.
func (u *Regions) placeLines(mod *symbols.Module, o *symbols.Object, r *lineRegion) (points []probes.CodePoint) {
	at, sources := o.Statements(r.file, r.first, r.last)
	if len(at) == 0 {
		r.sources = append(r.sources, sources...)
		return nil
	}
	begin := r.begin(o, at)
	lineOf := func(vaddr uint64) probes.LineKind {
		file, line, ok := o.Statement(vaddr)
		switch {
		case !ok || line < begin || line > r.last || !symbols.SameSource(file, r.file):
			return probes.OtherLine
		case line == begin:
			return probes.FirstLine
		}
		return probes.LaterLine
	}
	inside := func(vaddr uint64) bool { return lineOf(vaddr) != probes.OtherLine }
	seen, outlined := map[uint64]bool{}, false
	for _, addr := range at[begin] {
		lo, hi, ok := o.FuncRange(addr)
		if !ok || seen[lo] {
			continue
		}
		// The body of a parallel region or task within the lines.
		if o.IsOutlined(lo) && inside(lo) {
			outlined = true
			continue
		}
		seen[lo] = true
		identity := addr
		for u.places[o][identity].Name != "" { // the address of another region that begins here
			identity++
		}
		ps, err := probes.LineProbes(o, "region "+r.name, lo, identity, lineOf)
		if err != nil {
			r.trouble = fmt.Sprintf("in %s: %v", o.SourceFunction(addr), err)
			u.unseen = append(u.unseen, profile.Unseen{What: "region " + r.name, Reason: r.trouble})
			continue
		}
		file, _, _ := o.Statement(addr)
		p := Place{Name: r.name, Lines: &symbols.Extent{File: file, Begin: begin, End: r.last, Function: o.SourceFunction(addr)}}
		if begin != r.first {
			p.Notes = append(p.Notes, noteNearFirst)
			p.Near = true
		}
		if mixed(inside, lo, hi, o) {
			p.Notes = append(p.Notes, noteMixed)
		}
		u.place(o, identity, p)
		points = append(points, ps...)
	}
	if len(points) == 0 && outlined && r.trouble == "" {
		r.trouble = fmt.Sprintf("the code of line %d is that of a parallel region or task within these lines: begin at an earlier line of the function", begin)
	}
	return points
}

// begin returns the first line that has instructions. Optimised code may do nothing for a line: the
// next line's statement begins at the same address.
func (r *lineRegion) begin(o *symbols.Object, at map[int][]uint64) int {
	empty := 0
	for line := r.first; line <= r.last; line++ {
		for _, addr := range at[line] {
			if _, on, ok := o.Statement(addr); ok && on == line {
				return line
			}
			empty = cmp.Or(empty, line)
		}
	}
	return empty
}

// mixed tells whether the line table crosses a region's borders more often than a loop around the
// region would.
func mixed(inside func(uint64) bool, lo, hi uint64, o *symbols.Object) bool {
	const oneLoop = 4
	crossings, was := 0, false
	for a := lo; a < hi; a++ {
		if is := inside(a); is != was {
			crossings, was = crossings+1, is
		}
	}
	return crossings > oneLoop
}

// unmatched says why a region given by lines was not placed.
func (r *lineRegion) unmatched() string {
	s := "--region " + r.text
	switch {
	case r.trouble != "":
		return s + ": " + r.trouble
	case len(r.sources) > 0:
		return fmt.Sprintf("%s: there is no code in lines %d to %d of %s: the compiler left none, or the source has changed since", s, r.first, r.last, strings.Join(r.sources, ", "))
	}
	return fmt.Sprintf("%s: no line information names %s: build with -g, and give as much of the path as the compiler was given", s, filepath.Base(r.file))
}
