package collect

import (
	"errors"

	"ompp-attach/symbols"
)

// debugFiles are the separate debug files that a measurement fetches.
type debugFiles struct {
	fetch func(buildID string) error // nil: nothing is fetched
	// found maps an object to one of the same file that has found its debug file, or to nil.
	// Guarded by Measurement.settling.
	found map[*symbols.Object]*symbols.Object
}

// FetchDebugFiles makes the measurement fetch the debug files that it needs to name a process's
// places. It does so after the process's measurement: before, the process might have to wait for
// its probes, and so for the network. fetch gets a build id; symbols.UseDebugFiles has to find the
// file that was fetched.
func (m *Measurement) FetchDebugFiles(fetch func(buildID string) error) {
	m.debug = debugFiles{fetch, map[*symbols.Object]*symbols.Object{}}
}

// fetchFor fetches the debug files of the files in which a process's places lie.
func (d *debugFiles) fetchFor(r *resolver, logf func(string, ...any)) {
	if d.fetch == nil {
		return
	}
	for _, p := range r.bound {
		o := p.object
		if o == nil || o.HasDWARF() || o.BuildID() == "" {
			continue
		}
		if _, known := d.found[o]; !known {
			better, err := d.look(o)
			if err != nil {
				logf("%s: %v", p.module.Path, err)
			}
			d.found[o] = better
		}
	}
	r.debug = d.found
}

// look fetches the debug file of o, and returns an object of the same file that has found it.
func (d *debugFiles) look(o *symbols.Object) (*symbols.Object, error) {
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
func (r *resolver) named(o *symbols.Object) *symbols.Object {
	if better := r.debug[o]; better != nil {
		return better
	}
	return o
}
