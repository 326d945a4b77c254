package places

import "ompp-attach/symbols"

// Ahead makes the table of a file's regions if the engine will ask for the table. That takes
// seconds for a large program, until the table is in the cache. Ahead has to be called before
// probes are placed: the engine asks while the rings are read, and rings that are not read become
// full.
func Ahead(o *symbols.Object) {
	if o.Imports("GOMP_single_start") && asksSource(o) {
		tableOf(o)
	}
}

// asksSource tells whether the source of a file may say how a single construct ends: without lines,
// no directive has a place in the code.
func asksSource(o *symbols.Object) bool { return o.HasDWARF() }
