package attribution

import (
	"ompp-attach/attribution/build"
	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/place"
)

// The names of package place that the engine's users need.
type (
	Key              = place.Key
	RuntimeConstruct = place.RuntimeConstruct
	Resolver         = place.Resolver
	BarrierKind      = place.BarrierKind
	Following        = place.Following
	InlineLoop       = place.InlineLoop
)

// The kinds of barriers (see place.BarrierKind).
const (
	BarrierUnknown  = place.BarrierUnknown
	BarrierExplicit = place.BarrierExplicit
	BarrierImplicit = place.BarrierImplicit
	BarrierDropped  = place.BarrierDropped
	BarrierNone     = place.BarrierNone
)

// NoteSplit is the note on a combined region that GCC had split.
const NoteSplit = build.NoteSplit

// The names of package estimate that the engine's users need.
type (
	Switch = estimate.Switch
	Change = estimate.Change
)

// The changes of what is observed (see estimate.Change).
const (
	Unobserved = estimate.Unobserved
	Observed   = estimate.Observed
	Period     = estimate.Period
)
