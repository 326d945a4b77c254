package places

import (
	"ompp-attach/attribution"
	"ompp-attach/collect/advice"
	"ompp-attach/profile"
)

// PerLibrary resolves places, and names for each the runtime library that it calls.
type PerLibrary struct {
	*Resolver
	Usage *advice.Usage
}

// Region implements attribution.Resolver.
func (r PerLibrary) Region(k attribution.Key) profile.Region {
	reg := r.Resolver.Region(k)
	if label, ok := r.Usage.RuntimeAt(k.Runtime, k.Fn, k.Site); ok {
		reg.Runtime = label
	}
	return reg
}
