package mpicall

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// groups are the groups of processes (MPI_Group) that calls have made, by when. Groups that were
// neither made nor used for long are forgotten.
type groups struct{ young, old map[uint64]*group }

// group is a group of processes. Its members are all of one communicator.
type group struct {
	comm  int // index of the communicator or window
	whole bool
	size  int32 // of the communicator, if whole; 0: not known
	ranks []int32
}

// mostGroups, mostMembers bound what is kept: twice as many groups, with so many members each.
const (
	mostGroups  = 1024
	mostMembers = 4096
)

func (g *groups) keep(made uint64, x *group) {
	if len(g.young) >= mostGroups {
		g.old, g.young = g.young, nil
	}
	if g.young == nil {
		g.young = map[uint64]*group{}
	}
	g.young[made] = x
}

// of returns the group that was made at a time; nil: its members are not known.
func (g *groups) of(made uint64) *group {
	if x := g.young[made]; x != nil {
		return x
	}
	x := g.old[made]
	if x != nil {
		g.keep(made, x)
	}
	return x
}

// Grouped notes the group that a call has made, if its members are known.
func (cs *Comms) Grouped(c *event.MPICall) {
	how, ok := c.Op.Info().Groups()
	if !ok || how.Result == mpi.None || c.More == nil || c.More.NewGroup == 0 || c.More.Untold {
		return
	}
	x := cs.grouped(c, how)
	if x != nil && len(x.ranks) <= mostMembers {
		cs.groups.keep(c.More.NewGroup, x)
	}
}

// grouped returns the group that a call makes; nil: its members are not known.
func (cs *Comms) grouped(c *event.MPICall, how mpi.Grouping) *group {
	if how.Rule == mpi.Everyone {
		if c.Flags&mpi.Inter != 0 {
			return nil
		}
		return &group{comm: cs.Of(c), whole: true, size: c.Size}
	}
	parent := cs.groups.of(c.More.Group)
	if parent == nil || how.Rule == mpi.Unlisted {
		return nil
	}
	out := &group{comm: parent.comm}
	var other *group
	if how.With != mpi.None {
		if other = cs.groups.of(c.Made); other == nil || other.comm != parent.comm || !other.list() || !parent.list() {
			return nil
		}
	}
	listed := ints(c.More.Completes)
	if how.Ints() == 3 {
		listed = ranges(listed)
	}
	in := func(ranks []int32, is bool) (out []int32) {
		for _, r := range parent.ranks {
			if slices.Contains(ranks, r) == is {
				out = append(out, r)
			}
		}
		return out
	}
	switch how.Rule {
	case mpi.Included, mpi.IncludedRange:
		ok := false
		if out.ranks, ok = parent.at(listed); !ok {
			return nil
		}
	case mpi.Excluded, mpi.ExcludedRange:
		if !parent.list() {
			return nil
		}
		leave, ok := parent.at(listed)
		if !ok {
			return nil
		}
		out.ranks = in(leave, false)
	case mpi.Joined:
		out.ranks = slices.Clone(parent.ranks)
		for _, r := range other.ranks {
			if !slices.Contains(parent.ranks, r) {
				out.ranks = append(out.ranks, r)
			}
		}
	case mpi.Common:
		out.ranks = in(other.ranks, true)
	case mpi.Without:
		out.ranks = in(other.ranks, false)
	}
	return out
}

// list lists the members of a group of all, so that they are in ranks. It returns false if they are
// not known, or too many.
func (g *group) list() bool {
	if !g.whole || g.ranks != nil {
		return true
	}
	if g.size <= 0 || g.size > mostMembers {
		return false
	}
	for r := range g.size {
		g.ranks = append(g.ranks, r)
	}
	return true
}

// at returns the members with the given ranks in the group; ok is false if there are none such.
func (g *group) at(ranks []int32) (out []int32, ok bool) {
	for _, r := range ranks {
		switch {
		case r < 0:
			return nil, false
		case g.whole:
			out = append(out, r)
		case int(r) >= len(g.ranks):
			return nil, false
		default:
			out = append(out, g.ranks[r])
		}
	}
	return out, true
}

func ints(words []uint64) (out []int32) {
	for _, w := range words {
		out = append(out, int32(w))
	}
	return out
}

// ranges lists the ranks that triples of first, last and stride name. MPI refuses other strides
// than those that lead from first to last. A list that is too long is cut; it names no group then.
func ranges(triples []int32) (out []int32) {
	for ; len(triples) >= 3; triples = triples[3:] {
		first, last, stride := int64(triples[0]), int64(triples[1]), int64(triples[2])
		if stride == 0 || (last-first)*stride < 0 {
			return []int32{-1}
		}
		for r := first; (last-r)*stride >= 0; r += stride {
			if out = append(out, int32(r)); len(out) > mostMembers {
				return []int32{-1}
			}
		}
	}
	return out
}

// Members returns the members of the group that a call takes, as match.Member; ok is false if they
// are not known.
func (cs *Comms) Members(c *event.MPICall) (out []uint64, ok bool) {
	if c.More == nil || c.More.Group == 0 {
		return nil, false
	}
	g := cs.groups.of(c.More.Group)
	switch {
	case g == nil:
		return nil, false
	case g.whole:
		return []uint64{match.Member(g.comm, match.Everyone)}, true
	}
	for _, r := range g.ranks {
		out = append(out, match.Member(g.comm, r))
	}
	return out, true
}
