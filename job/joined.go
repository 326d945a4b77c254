package job

import (
	"cmp"
	"slices"

	"ompp-attach/job/comms"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/align"
	"ompp-attach/mpi/match/reader"
	"ompp-attach/profile"
)

// Ranks that were attached to. align.Starts tells with which operations their logs begin.

// joined is what is known of a rank's attachment. For a rank that was launched, all fields but
// backlog have the zero value.
type joined struct {
	attached bool
	whole    bool // nothing was lost since the attachment
	start    match.Start
	backlog  *match.Backlog
	makings  []match.Making
	until    uint64 // time of the first making that was left out (ns)
}

// joinedOf returns what a profile tells of the beginning of a rank's calls.
func joinedOf(p *profile.Profile) (out joined) {
	if !p.Meta.Attached {
		return out
	}
	out.attached, out.whole = true, p.Meta.LostHits == 0 && p.Meta.Off.C == 0
	leaveOut := func(at uint64) {
		if out.until == 0 || at < out.until {
			out.until = max(1, at)
		}
	}
	for i := range p.Comms {
		c := &p.Comms[i]
		if c.NoRoom && i > 0 { // there was no room for communicators that were made later
			leaveOut(p.Comms[i-1].Made)
		}
		if c.By == nil || c.Parent != 0 || c.Order == 0 {
			continue
		}
		if c.Made == 0 || i >= comms.Most {
			leaveOut(c.Made)
		}
		if m, _ := c.By.Info().Makes(); !m.Window {
			out.makings = append(out.makings, match.Making{Op: *c.By, End: c.Made})
		}
	}
	slices.SortFunc(out.makings, func(a, b match.Making) int { return cmp.Compare(a.End, b.End) })
	return out
}

// aligned finds out with which operations the calls of ranks begin, if any rank was attached to.
func aligned(ranks []*rankCalls) {
	if !slices.ContainsFunc(ranks, func(r *rankCalls) bool { return r.joined.attached }) {
		return
	}
	starts := align.Starts(func() []*match.RankCalls { return toMatch(ranks) }, nil)
	backlog := reader.CountBack(func() []*match.RankCalls { return toMatch(ranks) })
	for i, r := range ranks {
		r.joined.start, r.joined.backlog = starts[i], backlog
		if r.joined.attached && starts[i].Known && r.joined.whole {
			r.comms.SeenFrom(starts[i].Makings)
		}
	}
}

// toMatch returns the calls of ranks that can be matched before the ranks' common communicators are
// known.
func toMatch(ranks []*rankCalls) (out []*match.RankCalls) {
	for _, r := range ranks {
		out = append(out, r.toMatch(nil))
	}
	return out
}
