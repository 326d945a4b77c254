package places

import "ompp-attach/symbols"

// Ahead finds what the engine will ask about a file if the answer takes long: the table of the
// regions of a large program takes seconds, until it is in the cache. It has to be called before
// probes are placed. The engine asks while the rings are read, and rings that are not read become
// full.
func Ahead(o *symbols.Object) {
	if o.Imports("GOMP_single_start") && asksSource(o) {
		tableOf(o)
	}
}

// asksSource tells whether the source of a file may say how a single construct ends: without lines,
// no directive has a place in the code.
func asksSource(o *symbols.Object) bool { return o.HasDWARF() }
