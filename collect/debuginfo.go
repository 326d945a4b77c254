package collect

import (
	"errors"

	"ompp-attach/symbols"
)

// debugFiles are the separate debug files that a measurement asks others for.
type debugFiles struct {
	fetch func(buildID string) error // nil: nobody is asked
	// found are objects that know theirs, by those that were there before.
	// Measurement.settling guards it.
	found map[*symbols.Object]*symbols.Object
}

// FetchDebugFiles makes the measurement fetch what the names of a process's places
// need, when the process's measurement is over: while it is measured, it might wait
// for its probes, and so for the network. symbols.UseDebugFiles has to find what was
// fetched.
func (m *Measurement) FetchDebugFiles(fetch func(buildID string) error) {
	m.debug = debugFiles{fetch, map[*symbols.Object]*symbols.Object{}}
}

// fetchFor fetches what a process's places need.
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

// look returns an object that has its debug file, or nil.
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

// named returns the object that knows most of the names in a file.
func (r *resolver) named(o *symbols.Object) *symbols.Object {
	if better := r.debug[o]; better != nil {
		return better
	}
	return o
}
