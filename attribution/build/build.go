package build

import (
	"cmp"
	"reflect"
	"slices"

	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Input is what a profile is built from.
type Input struct {
	Tree      *tree.Tree
	Threads   []profile.Thread // the seats
	Pid       uint32
	Untied    map[uint64]bool // outlined functions of tasks that turned out to be untied
	TasksGone bool            // tasks were unobserved for some of the time
	Stacks    []string        // of samples, by number: addresses of 8 bytes each
	Losses    map[tree.Seat]uint64
	// SeatOfSample returns the seat of a sample, -1 if its thread never got one.
	SeatOfSample func(tree.SampleID) int
	Measured     int64 // how long was measured, ns
	Warnings     []string
	Timeline     *timeline.Dictionary // is filled; nil: no timeline was recorded
}

// Assemble makes a profile's figures of a tree. It gives every construct its place in the source,
// and joins what turns out to be one place.
func Assemble(in *Input) *profile.Profile {
	b := &builder{in: in, regionOf: map[RegionID]int{}, place: map[place.Key]profile.Region{}}
	root := b.merge(in.Tree.Root)
	b.group(root)
	b.combine(root)
	for i := range in.Threads {
		slices.Sort(in.Threads[i].TIDs) // events of different threads come in any order
	}
	p := &profile.Profile{Version: profile.SchemaVersion, Threads: in.Threads}
	if len(p.Threads) == 0 {
		p.Threads = []profile.Thread{{Root: 0, Num: 0, TIDs: []int{int(in.Pid)}}}
	}
	b.flatten(p, root, -1)
	b.number(p)
	if in.Timeline != nil {
		in.Timeline.SeatOf = seatsOf(b.seats, len(in.Threads))
	}
	for k, n := range in.Losses {
		p.Lost = append(p.Lost, profile.Loss{Region: b.regionIndex(k.Node), Thread: b.seats[k.Seat], Events: n})
	}
	slices.SortFunc(p.Lost, func(x, y profile.Loss) int {
		return cmp.Or(cmp.Compare(x.Region, y.Region), cmp.Compare(x.Thread, y.Thread))
	})
	for _, l := range p.Lost {
		if l.Region >= 0 {
			p.Regions[l.Region].Lossy += l.Events
		}
	}
	p.Warnings = in.Warnings
	to := joinBrief(p, in.Measured)
	if in.Timeline != nil {
		in.complete(p, to)
	}
	return p
}

// builder makes the profile's tree of the engine's tree. The engine's nodes are addresses; the
// profile's are places in the source.
type builder struct {
	in         *Input
	regionOf   map[RegionID]int
	regions    []builtRegion
	place      map[place.Key]profile.Region
	placed     map[*tree.Node]*built
	framer     *framer     // nil: no samples yet
	renumbered map[int]int // engine's region number to report's region number
	seats      []int       // engine's seat to report's seat
}

// builtRegion is a region of the profile, and the flags of the nodes that it was made of.
type builtRegion struct {
	profile.Region
	flags tree.Flags
}

const NoteUnobserved = "for some of the time these were not observed, to keep the measurement's cost within its budget: what was executed then is extrapolated from periods before and after"

const NoteAtLeast = "for some of the time these were not observed, to keep the measurement's cost within its budget: the figures are of those that were observed; how many more there were is not known"

// RegionID identifies a region for the reader: regions with one RegionID are one region.
type RegionID struct {
	Construct  event.Construct
	runtime    string
	name       string
	File       string
	Begin, end int
	object     string
	offset     uint64
}

// built is a node of the profile's tree while the tree is assembled.
type built struct {
	region   int // -1: the root
	key      place.Key
	stats    []profile.ThreadStats
	samples  tree.Sums
	children []*built
	// The numbers by which a timeline names the node, and the numbers of nodes that are a part
	// of it.
	numbers, parts []int32
}

// Identify returns a region's RegionID.
func Identify(r *profile.Region) RegionID {
	id := RegionID{Construct: r.Construct, runtime: r.Runtime, name: r.Name, File: r.Location.File,
		Begin: r.Location.Begin, end: r.Location.End}
	if r.Location.File == "" || r.Location.Begin == 0 {
		id.object, id.offset = r.Location.Object, r.Location.Offset
	}
	return id
}

func (b *builder) regionFor(n *tree.Node) int {
	i := b.regionOfKey(n.Key)
	r := &b.regions[i]
	r.flags |= n.Flags
	for s := range n.Notes {
		if !slices.Contains(r.Notes, s) {
			r.Notes = append(r.Notes, s)
		}
	}
	return i
}

func (b *builder) regionOfKey(k place.Key) int {
	r, ok := b.place[k]
	if !ok {
		if k.Construct == event.Unknown {
			r = b.in.underWay()
		} else {
			r = b.in.Tree.Answers.Region(k)
		}
		b.place[k] = r
	}
	if b.in.Untied[k.Fn] {
		switch create, execute := tree.TaskConstructs(true); k.Construct {
		case event.Task:
			r.Construct = create
		case event.TaskExec:
			r.Construct = execute
		}
	}
	return b.intern(builtRegion{r, 0})
}

func (b *builder) intern(r builtRegion) int {
	id := Identify(&r.Region)
	i, ok := b.regionOf[id]
	if !ok {
		i = len(b.regions)
		r.Notes = slices.Clone(r.Notes)
		b.regions = append(b.regions, r)
		b.regionOf[id] = i
	}
	return i
}

// merge resolves a subtree. Nodes that turn out to be one place become one node.
func (b *builder) merge(n *tree.Node) *built {
	if b.placed == nil {
		b.placed = map[*tree.Node]*built{}
	}
	out := &built{region: -1, key: n.Key}
	if n.Parent != nil {
		out.region = b.regionFor(n)
	}
	out.stats = slices.Clone(n.Stats)
	out.samples.AddAll(n.Samples)
	if n.Number != 0 {
		out.numbers = append(out.numbers, n.Number)
	}
	b.placed[n] = out
	for _, c := range n.Children {
		m := b.merge(c)
		i := slices.IndexFunc(out.children, func(x *built) bool { return x.region == m.region })
		if i < 0 {
			out.children = append(out.children, m)
			continue
		}
		absorb(out.children[i], m)
		b.placed[c] = out.children[i]
	}
	return out
}

// absorb adds the figures of a subtree to another subtree of the same region.
func absorb(into, from *built) {
	for seat := range from.stats {
		for len(into.stats) <= seat {
			into.stats = append(into.stats, profile.ThreadStats{})
		}
		into.stats[seat].Add(&from.stats[seat])
	}
	into.samples.AddAll(from.samples)
	into.numbers, into.parts = append(into.numbers, from.numbers...), append(into.parts, from.parts...)
	for _, c := range from.children {
		if i := slices.IndexFunc(into.children, func(x *built) bool { return x.region == c.region }); i >= 0 {
			absorb(into.children[i], c)
		} else {
			into.children = append(into.children, c)
		}
	}
}

// withinTimes returns a region's time without a core, no part of it longer than the region's own.
// Threads report short waits together (CORE_WAIT_STEP), each time for the region of the last one.
// Over many executions that evens out. Where it does not, the rest stays in the thread's whole.
func withinTimes(s *profile.ThreadStats) *profile.Cost {
	if s.NoCore == nil {
		return nil
	}
	c := *s.NoCore
	times := s.Parts()
	for p, wait := range c.Parts() {
		*wait = min(*wait, max(0, times[p].T))
	}
	c.Child = min(c.Child, c.Exec)
	return &c
}

// flatten writes the tree in depth-first order.
func (b *builder) flatten(p *profile.Profile, n *built, parent int) {
	me := len(p.Nodes)
	p.Nodes = append(p.Nodes, profile.Node{Parent: parent, Region: n.region})
	b.in.enter(n, me)
	for seat := range n.stats {
		s := n.stats[seat]
		if reflect.ValueOf(s).IsZero() {
			continue
		}
		s.Thread = seat
		if parent >= 0 {
			s.NoCore = withinTimes(&s)
		}
		p.Nodes[me].Stats = append(p.Nodes[me].Stats, s)
	}
	b.sampled(p, n, me)
	for _, c := range n.children {
		if c.empty() {
			continue
		}
		b.flatten(p, c, me)
	}
}

func (n *built) empty() bool {
	if len(n.samples) > 0 {
		return false
	}
	for i := range n.stats {
		if !reflect.ValueOf(n.stats[i]).IsZero() {
			return false
		}
	}
	for _, c := range n.children {
		if !c.empty() {
			return false
		}
	}
	return true
}

// number drops regions and threads that do not occur. It orders the others as reports list them:
// regions by file, line and construct, threads by root and number.
func (b *builder) number(p *profile.Profile) {
	b.numberRegions(p)
	b.numberThreads(p)
	for i := range p.Samples {
		if s := &p.Samples[i]; s.Thread >= 0 {
			s.Thread = b.seats[s.Thread]
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		n.Region = b.renumbered[n.Region]
		for j := range n.Stats {
			n.Stats[j].Thread = b.seats[n.Stats[j].Thread]
		}
		slices.SortFunc(n.Stats, func(x, y profile.ThreadStats) int { return cmp.Compare(x.Thread, y.Thread) })
	}
}

// numberRegions gives the profile the regions that occur. b.renumbered holds their new numbers.
func (b *builder) numberRegions(p *profile.Profile) {
	used := make([]bool, len(b.regions))
	for _, n := range p.Nodes {
		if n.Region >= 0 {
			used[n.Region] = true
		}
	}
	order := []int{}
	for i := range b.regions {
		if used[i] {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(inOrder(&b.regions[x].Region, &b.regions[y].Region), cmp.Compare(x, y))
	})
	b.renumbered = map[int]int{-1: -1}
	for i, old := range order {
		b.renumbered[old] = i
		r := b.regions[old]
		switch {
		case r.flags&tree.AtLeast != 0: // nothing of it is extrapolated
			r.Notes = append(r.Notes, NoteAtLeast)
		case r.flags&tree.Unobserved != 0:
			r.Notes = append(r.Notes, NoteUnobserved)
		}
		slices.Sort(r.Notes)
		p.Regions = append(p.Regions, r.Region)
	}
}

// numberThreads leaves the profile the threads that did something. b.seats holds their new numbers.
func (b *builder) numberThreads(p *profile.Profile) {
	active := b.active(p)
	var seats []int
	for i := range p.Threads {
		if active[i] {
			seats = append(seats, i)
		}
	}
	if len(seats) == 0 {
		seats = append(seats, 0)
	}
	slices.SortFunc(seats, func(x, y int) int {
		return cmp.Or(cmp.Compare(p.Threads[x].Root, p.Threads[y].Root), cmp.Compare(p.Threads[x].Num, p.Threads[y].Num))
	})
	b.seats = make([]int, len(p.Threads))
	threads := make([]profile.Thread, len(seats))
	for i, old := range seats {
		b.seats[old] = i
		threads[i] = p.Threads[old]
	}
	p.Threads = threads
}

// active tells of each seat whether it has figures, losses or samples. Threads that existed at
// attach and did nothing have none.
func (b *builder) active(p *profile.Profile) []bool {
	active := make([]bool, len(p.Threads))
	for _, n := range p.Nodes {
		for _, s := range n.Stats {
			active[s.Thread] = true
		}
	}
	for k := range b.in.Losses {
		active[k.Seat] = true
	}
	for i := range p.Samples {
		if seat := p.Samples[i].Thread; seat >= 0 {
			active[seat] = true
		}
	}
	return active
}

// inOrder compares regions in the order of reports.
func inOrder(r, s *profile.Region) int {
	return cmp.Or(cmp.Compare(r.Location.File, s.Location.File), cmp.Compare(r.Location.Begin, s.Location.Begin),
		cmp.Compare(r.Construct, s.Construct), cmp.Compare(r.Location.Object, s.Location.Object),
		cmp.Compare(r.Location.Offset, s.Location.Offset), cmp.Compare(r.Name, s.Name))
}

// regionIndex returns the profile's number of the region that an engine node became, -1 if it
// became none.
func (b *builder) regionIndex(n *tree.Node) int {
	m := b.placed[n]
	if m == nil {
		return -1
	}
	if i, ok := b.renumbered[m.region]; ok {
		return i
	}
	return -1
}
