// Package stacks makes pprof's frames of regions. Reports of processes and of jobs share it.
package stacks

import (
	pprof "github.com/google/pprof/profile"

	"ompp-attach/profile"
)

// Frames makes the frames of regions in a profile.
type Frames struct {
	Regions []*pprof.Location // in the order of AddRegion

	mapping *pprof.Mapping
	out     *pprof.Profile
}

// New returns a maker of frames in out. The frames belong to the mapping, which is one of out's.
func New(out *pprof.Profile, mapping *pprof.Mapping) *Frames {
	return &Frames{out: out, mapping: mapping}
}

// Program adds and returns the frame of the program itself.
func (f *Frames) Program(name, file string) *pprof.Location {
	return f.add(&pprof.Function{Name: name, SystemName: "program", Filename: file})
}

// AddRegion adds the frame of a region.
func (f *Frames) AddRegion(r *profile.Region) {
	f.Regions = append(f.Regions, f.add(&pprof.Function{
		Name:       FrameName(r),
		SystemName: systemName(len(f.Regions), r),
		Filename:   r.Location.File,
		StartLine:  int64(r.Location.Begin),
	}))
}

func (f *Frames) add(function *pprof.Function) *pprof.Location {
	function.ID = uint64(len(f.out.Function) + 1)
	f.out.Function = append(f.out.Function, function)
	l := &pprof.Location{ID: uint64(len(f.out.Location) + 1), Mapping: f.mapping,
		Line: []pprof.Line{{Function: function, Line: function.StartLine}}}
	f.out.Location = append(f.out.Location, l)
	return l
}
