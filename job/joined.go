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

// Ranks that were attached to: with which operations their calls begin (align.Starts).

// joined is what is known of a rank that was attached to. Of one that was launched, all but backlog
// is the zero value.
type joined struct {
	attached bool
	whole    bool // nothing was lost since then
	start    match.Start
	backlog  *match.Backlog
	makings  []match.Making
	until    uint64 // when the first making was left out (ns)
}

// joinedOf returns where the calls of a rank begin, as far as its profile tells.
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
		if c.NoRoom && i > 0 { // others were made later
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

// aligned finds out where the calls of ranks begin, if any were attached to.
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

// toMatch returns what is matched of ranks before it is known which communicators they share.
func toMatch(ranks []*rankCalls) (out []*match.RankCalls) {
	for _, r := range ranks {
		out = append(out, r.toMatch(nil))
	}
	return out
}
