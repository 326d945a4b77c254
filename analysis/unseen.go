package analysis

import (
	"slices"

	"ompp-attach/profile"
)

// Share is a part of all threads' time, if that part is known.
type Share struct {
	Most  float64 // upper bound, 0 to 1
	Known bool
}

// UnseenShares returns, for each entry of Profile.Unseen, the share of the time in which the
// unobserved construct can have been executed. If the construct lies in the body of a region, that
// is the region's own time. Otherwise it is the share of samples taken in its function.
func UnseenShares(p *profile.Profile) []Share {
	out := make([]Share, len(p.Unseen))
	for i := range p.Unseen {
		switch u := &p.Unseen[i]; {
		case u.Object == "":
		case u.Body && len(p.Meta.LeftOut) == 0:
			out[i] = Share{bodyShare(p, u), true}
		case p.Meta.Sampling != nil && len(p.Samples) > 0:
			out[i] = Share{sampledShare(p, u), true}
		}
	}
	return out
}

func bodyShare(p *profile.Profile, u *profile.Unseen) float64 {
	var own int64
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 {
			continue
		}
		if l := &p.Regions[n.Region].Location; l.Object == u.Object && l.Offset == u.Offset {
			for j := range n.Stats {
				own += max(0, n.Stats[j].Exec.T-n.Stats[j].Child)
			}
		}
	}
	return Ratio(own, ThreadTime(p))
}

func sampledShare(p *profile.Profile, u *profile.Unseen) float64 {
	in := func(f int) bool {
		at := &p.Frames[f]
		return at.Object == u.Object && (at.Entry == u.Offset || at.Function != "" && sourceFunction(at.Function) == u.Function)
	}
	var all, there uint64
	for i := range p.Samples {
		s := &p.Samples[i]
		if all += s.Weight; slices.ContainsFunc(s.Stack, in) {
			there += s.Weight
		}
	}
	return Ratio(int64(there), int64(all))
}
