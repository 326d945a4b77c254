package collect

import (
	"ompp-attach/attribution"
	"ompp-attach/collect/advice"
	"ompp-attach/collect/places"
	"ompp-attach/profile"
)

// perLibrary resolves places, and names for each the runtime library that it calls.
type perLibrary struct {
	*places.Resolver
	usage *advice.Usage
}

// Region implements attribution.Resolver.
func (r perLibrary) Region(k attribution.Key) profile.Region {
	reg := r.Resolver.Region(k)
	if label, ok := r.usage.RuntimeAt(k.Runtime, k.Fn, k.Site); ok {
		reg.Runtime = label
	}
	return reg
}
