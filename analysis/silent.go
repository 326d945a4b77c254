package analysis

import "ompp-attach/profile"

// Silent reports whether no probe was hit in a process that was attached to. Then nobody can tell
// whether its threads were in a parallel region all the time.
func Silent(p *profile.Profile) bool {
	return p.Meta.Attached && p.Meta.Hits == 0 && len(p.Regions) == 0
}

// SilentText says why nothing is known of a process that is Silent.
const SilentText = "not known: no region, construct or call began or ended meanwhile"
