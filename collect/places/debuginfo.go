package places

import (
	"errors"

	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// DebugFiles are the separate debug files that a measurement fetches. They have no lock of their
// own. Their zero value fetches nothing.
type DebugFiles struct {
	fetch func(buildID string) error // nil: nothing is fetched
	// found maps an object to one of the same file that has found its debug file, or to nil.
	found map[*symbols.Object]*symbols.Object
}

// NewDebugFiles returns the debug files that fetch fetches. fetch gets a build id.
func NewDebugFiles(fetch func(buildID string) error) DebugFiles {
	return DebugFiles{fetch, map[*symbols.Object]*symbols.Object{}}
}

// FetchFor fetches the debug files of the files in which a process's places lie.
func (d *DebugFiles) FetchFor(r *Resolver, logf func(string, ...any)) {
	if d.fetch == nil {
		return
	}
	for _, p := range r.bound {
		o := p.object
		if o == nil || o.HasDWARF() || o.BuildID() == "" || profile.IsCLibrary(p.module.Path) && !o.Stripped() {
			continue
		}
		if _, known := d.found[o]; !known {
			better, err := d.fetchOne(o)
			if err != nil {
				logf("%s: %v", p.module.Path, err)
			}
			d.found[o] = better
		}
	}
	r.debug = d.found
}

// fetchOne fetches the debug file of o, and returns an object of the same file that has found it.
func (d *DebugFiles) fetchOne(o *symbols.Object) (*symbols.Object, error) {
	if err := d.fetch(o.BuildID()); err != nil {
		return nil, err
	}
	better, err := o.Again()
	if err == nil && !better.HasDWARF() {
		err = errors.New("what was fetched is not its debug file")
	}
	if err != nil {
		return nil, err
	}
	return better, nil
}

// named returns the object that knows most names of a file: the one with a fetched debug file, if
// there is one.
func (r *Resolver) named(o *symbols.Object) *symbols.Object {
	if better := r.debug[o]; better != nil {
		return better
	}
	return o
}
