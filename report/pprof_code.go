package report

import (
	"fmt"
	"path"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/stacks"
	"ompp-attach/report/words"
)

// code writes sampled frames as pprof expects code. Each file has a mapping with its build id, and
// in the mapping locations by address. So pprof can later name code that had no name when it was
// measured. Addresses are those in the file, not in a process: they are the same in all ranks of a
// job, and in objdump.
type code struct {
	p         *profile.Profile
	out       *pprof.Profile
	mappings  map[string]*pprof.Mapping // by path
	functions map[functionID]*pprof.Function
	locations map[string]*pprof.Location // by chain
	chain     map[int]string             // by innermost frame: its chain; empty: it has several
}

type functionID struct{ name, file string }

// regionsFile is the file name of the regions, which have no code of their own. The bracket keeps
// pprof from looking for such a file.
const regionsFile = "[regions]"

func newCode(p *profile.Profile, out *pprof.Profile) *code {
	c := &code{p, out, map[string]*pprof.Mapping{}, map[functionID]*pprof.Function{}, map[string]*pprof.Location{}, map[int]string{}}
	c.mapping(p.Meta.Path) // pprof takes the first mapping for the program
	return c
}

// mapping returns the mapping of a file.
func (c *code) mapping(file string) *pprof.Mapping {
	if m := c.mappings[file]; m != nil {
		return m
	}
	m := &pprof.Mapping{ID: uint64(len(c.out.Mapping) + 1), File: file,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	for i := range c.p.Objects {
		o := &c.p.Objects[i]
		if o.Path != file {
			continue
		}
		m.Start, m.Limit, m.Offset, m.BuildID = o.Begin, o.End, o.FileOffset, o.BuildID
		// Frames without a symbol have names, too (frameFunction). If that were not said here,
		// pprof would look for the file each time, and complain that there is none.
		m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames = true, o.Lines, o.Lines, o.Lines
		if !o.Symbols && !o.Lines {
			// With -symbolize=force, pprof looks up names again. If pprof found the file, it would
			// take the last exported symbol before an address for its function, since addr2line
			// ignores the length of functions. So pprof gets no path. With PPROF_BINARY_PATH it
			// finds the file's symbols by the build id.
			m.File = path.Base(file)
		}
	}
	c.mappings[file] = m
	c.out.Mapping = append(c.out.Mapping, m)
	return m
}

// chainOf names an instruction's frame and the frames that it was inlined into, which come first in
// steps. A function that was inlined into several others has one frame for each of its lines, and a
// chain for each of the others.
func chainOf(steps []analysis.Step) string { return fmt.Sprint(steps) }

// meet notes that a stack has an instruction. All instructions are to be met before location.
func (c *code) meet(steps []analysis.Step) {
	inner, chain := steps[len(steps)-1].Frame, chainOf(steps)
	if known, ok := c.chain[inner]; ok && known != chain {
		chain = ""
	}
	c.chain[inner] = chain
}

// location returns the location of an instruction.
func (c *code) location(steps []analysis.Step) *pprof.Location {
	chain := chainOf(steps)
	l := c.locations[chain]
	if l != nil {
		return l
	}
	at := &c.p.Frames[steps[len(steps)-1].Frame]
	if c.chain[steps[len(steps)-1].Frame] == "" {
		// The innermost frame's address is in one of the functions that it was inlined into. That
		// of the outermost frame is in the right one.
		at = &c.p.Frames[steps[0].Frame]
	}
	l = &pprof.Location{ID: uint64(len(c.out.Location) + 1), Address: at.Offset}
	if at.Object != "" {
		l.Mapping = c.mapping(at.Object)
	}
	for i := len(steps) - 1; i >= 0; i-- {
		f := &c.p.Frames[steps[i].Frame]
		l.Line = append(l.Line, pprof.Line{Function: c.function(f), Line: int64(f.Line)})
	}
	c.out.Location = append(c.out.Location, l)
	c.locations[chain] = l
	return l
}

// function returns a frame's function. Functions of one name in one file are one.
func (c *code) function(f *profile.Frame) *pprof.Function {
	id := functionID{words.Clean(frameFunction(f)), f.File}
	fn := c.functions[id]
	if fn == nil {
		fn = &pprof.Function{ID: uint64(len(c.out.Function) + 1), Name: stacks.FunctionName(id.name), SystemName: id.name, Filename: id.file}
		c.functions[id] = fn
		c.out.Function = append(c.out.Function, fn)
	}
	return fn
}

// frameFunction names a frame. A function without a symbol is named by its library and its first
// address there, which addr2line understands.
func frameFunction(f *profile.Frame) string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Object != "" && f.Entry != 0:
		return fmt.Sprintf("%s+%#x", path.Base(f.Object), f.Entry)
	case f.Object != "":
		return "[" + path.Base(f.Object) + "]"
	}
	return "[unknown]"
}
