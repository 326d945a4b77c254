package attribution

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Finish closes all open regions at a time (CLOCK_MONOTONIC, ns), gives every construct its place
// in the source, and returns the profile's figures. Do not feed the engine afterwards. The caller
// fills in the rest of Meta, which describes the measurement.
func (e *Engine) Finish(end uint64) *profile.Profile {
	end = e.clock.at(end)
	// A parked thread may have a marker in its queue that switches measurement on.
	e.advance(end + 2*stragglerWait)
	if e.offSince != 0 {
		off := e.offSince
		e.countOff(end)
		end = off
	}
	e.settleAll(end)
	e.settleWatch(end)
	e.settleExisting()
	b := &builder{engine: e, regionOf: map[regionID]int{}, place: map[Key]profile.Region{}}
	root := b.merge(e.root)
	b.fold(root)
	b.combine(root)
	e.tellLives()
	for i := range e.rows {
		slices.Sort(e.rows[i].TIDs) // events of different threads come in any order
	}
	p := &profile.Profile{Version: profile.SchemaVersion, Threads: e.rows}
	if len(p.Threads) == 0 {
		p.Threads = []profile.Thread{{Root: 0, Num: 0, TIDs: []int{int(e.pid)}}}
	}
	b.flatten(p, root, -1)
	b.number(p)
	for k, n := range e.losses {
		p.Lost = append(p.Lost, profile.Loss{Region: b.regionIndex(k.node), Thread: b.rows[k.row], Events: n})
	}
	slices.SortFunc(p.Lost, func(x, y profile.Loss) int {
		return cmp.Or(cmp.Compare(x.Region, y.Region), cmp.Compare(x.Thread, y.Thread))
	})
	for _, l := range p.Lost {
		if l.Region >= 0 {
			p.Regions[l.Region].Lossy += l.Events
		}
	}
	p.Warnings = slices.Concat(e.sharedRow(), e.sampling.note())
	joinBrief(p, e.measured(end))
	p.Meta.Hits = e.events
	p.Meta.Overhead = e.ledger.Overhead()
	p.Meta.Off = e.off
	p.Meta.Unmatched = e.unmatched
	p.Meta.Partial = e.partial
	p.Meta.Observations = e.watch.observations()
	return p
}

// settleAll charges everything that is open at a time.
func (e *Engine) settleAll(end uint64) {
	e.advance(end + 2*stragglerWait)
	// In order: threads that turn out to be initial threads are numbered here.
	for _, tid := range slices.Sorted(maps.Keys(e.threads)) {
		t := e.threads[tid]
		// A thread may have been read beyond another thread's ompp_off.
		e.cutOff(t, max(end, t.last))
	}
	for _, list := range e.teams {
		for _, m := range list.open {
			e.cutOffTeam(m, end)
		}
	}
	for _, l := range e.leagues {
		e.cutOffTeam(l.team, end)
	}
	for _, list := range e.teams {
		for _, m := range list.open {
			e.settleSamples(m)
		}
	}
	for _, l := range e.leagues {
		e.settleSamples(l.team)
	}
}

const noteCutOff = "an execution was under way when measurement ended, or was switched off: it is counted, with its time until then"

// cutOff charges the open regions of a thread when measurement ends.
func (e *Engine) cutOff(t *thread, end uint64) {
	real := end
	if !t.idle() {
		e.chargeWait(t, nil)
	}
	for len(t.stack) > 0 {
		f := t.top()
		t.setClock()
		end := real - t.suspended
		switch {
		case f.phase == done:
			e.pop(t, f.Mark)
			continue
		case t.idle():
			t.stack = t.stack[:0]
			continue
		case isExecution(f.node.key.Construct):
			e.cutOffTask(t, real)
			continue
		case f.node.key.Construct == event.Unknown:
			e.cutOffExisting(t, end)
			continue
		case f.team != nil && f.team.charged:
			t.stack = t.stack[:len(t.stack)-1]
			continue
		}
		f.node.note(noteCutOff)
		f.Uncounted = true
		if f.team == nil || f.num >= 0 {
			e.partial++
		}
		f.stop(end)
		if f.team == nil {
			e.pop(t, end)
			continue
		}
		if m := f.team.member(t.num); m != nil && f.phase != starting {
			f.Parts[profile.Enter].T = ledger.Span(f.team.forked, m.begin)
			if m.end != 0 {
				f.Parts[profile.Body] = profile.Span{T: ledger.Span(m.begin, m.end), C: 1}
				f.Child, f.Task, f.Tasks = m.Child+m.Task, m.Task, m.Tasks
			}
		}
		if f.phase != inBarrier {
			f.node.present(f.row).paid += f.Taken()
		}
		f.team.cutOffPresence(f.row, end)
		e.handUp(t, len(t.stack)-1, end)
		e.ledger.Charge(&f.Account, f.node.stat(f.row), ledger.Span(f.team.forked, end))
		t.num = max(f.num, 0)
		t.stack = t.stack[:len(t.stack)-1]
	}
}

// cutOffTeam charges workers that had reached the final barrier of a region that was never joined:
// no frame stands for them any more. The primary thread still has its frame.
func (e *Engine) cutOffTeam(m *team, end uint64) {
	for i := range m.members {
		mem := &m.members[i]
		if mem.end == 0 || mem.num == 0 {
			continue
		}
		m.node.note(noteCutOff)
		last := max(end, mem.end)
		m.cutOffPresence(mem.row, last)
		e.settleMember(m, mem, mem.end, last, last)
	}
}

// builder turns the engine's tree into the profile's tree. In the former, nodes are addresses; in
// the latter, they are places in the source.
type builder struct {
	engine     *Engine
	regionOf   map[regionID]int
	regions    []profile.Region
	place      map[Key]profile.Region
	placed     map[*node]*built
	framer     *framer     // nil: no samples yet
	renumbered map[int]int // engine's region number to report's region number
	rows       []int       // engine's row to report's row
}

// regionID is what two regions have in common if they are one for the reader.
type regionID struct {
	construct  event.Construct
	runtime    string
	name       string
	file       string
	begin, end int
	object     string
	offset     uint64
}

// built is a node of the profile's tree while the tree is assembled.
type built struct {
	region   int // -1: the root
	key      Key
	stats    []profile.ThreadStats
	samples  sums
	children []*built
}

func identify(r *profile.Region) regionID {
	id := regionID{construct: r.Construct, runtime: r.Runtime, name: r.Name, file: r.Location.File,
		begin: r.Location.Begin, end: r.Location.End}
	if r.Location.File == "" || r.Location.Begin == 0 {
		id.object, id.offset = r.Location.Object, r.Location.Offset
	}
	return id
}

func (b *builder) regionFor(n *node) int {
	i := b.regionOfKey(n.key)
	for s := range n.notes {
		if !slices.Contains(b.regions[i].Notes, s) {
			b.regions[i].Notes = append(b.regions[i].Notes, s)
		}
	}
	if slices.Contains(b.regions[i].Notes, noteAtLeast) { // then nothing of it is extrapolated
		b.regions[i].Notes = slices.DeleteFunc(b.regions[i].Notes, func(s string) bool { return s == noteAway })
	}
	return i
}

func (b *builder) regionOfKey(k Key) int {
	r, ok := b.place[k]
	if !ok {
		if k.Construct == event.Unknown {
			r = b.engine.underWay()
		} else {
			r = b.engine.resolve.Region(k)
		}
		b.place[k] = r
	}
	if b.engine.untied[k.Fn] {
		switch create, execute := taskConstructs(true); k.Construct {
		case event.Task:
			r.Construct = create
		case event.TaskExec:
			r.Construct = execute
		}
	}
	return b.intern(r)
}

func (b *builder) intern(r profile.Region) int {
	id := identify(&r)
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
func (b *builder) merge(n *node) *built {
	if b.placed == nil {
		b.placed = map[*node]*built{}
	}
	out := &built{region: -1, key: n.key}
	if n.parent != nil {
		out.region = b.regionFor(n)
	}
	out.stats = slices.Clone(n.stats)
	out.samples.addAll(n.samples)
	b.placed[n] = out
	for _, c := range n.children {
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
	for row := range from.stats {
		for len(into.stats) <= row {
			into.stats = append(into.stats, profile.ThreadStats{})
		}
		into.stats[row].Add(&from.stats[row])
	}
	into.samples.addAll(from.samples)
	for _, c := range from.children {
		if i := slices.IndexFunc(into.children, func(x *built) bool { return x.region == c.region }); i >= 0 {
			absorb(into.children[i], c)
		} else {
			into.children = append(into.children, c)
		}
	}
}

// flatten writes the tree in depth-first order.
func (b *builder) flatten(p *profile.Profile, n *built, parent int) {
	me := len(p.Nodes)
	p.Nodes = append(p.Nodes, profile.Node{Parent: parent, Region: n.region})
	for row := range n.stats {
		s := n.stats[row]
		if reflect.ValueOf(s).IsZero() {
			continue
		}
		s.Thread = row
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

// number drops regions that do not occur, and orders the others as reports list them: by file, line
// and construct. It orders the threads by root and number.
func (b *builder) number(p *profile.Profile) {
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
		return cmp.Or(inOrder(&b.regions[x], &b.regions[y]), cmp.Compare(x, y))
	})
	newRegion := map[int]int{-1: -1}
	for i, old := range order {
		newRegion[old] = i
		r := b.regions[old]
		slices.Sort(r.Notes)
		p.Regions = append(p.Regions, r)
	}
	b.renumbered = newRegion

	// Threads that existed at attach and did nothing get no row.
	active := make([]bool, len(p.Threads))
	for _, n := range p.Nodes {
		for _, s := range n.Stats {
			active[s.Thread] = true
		}
	}
	for k := range b.engine.losses {
		active[k.row] = true
	}
	for i := range p.Samples {
		if row := p.Samples[i].Thread; row >= 0 {
			active[row] = true
		}
	}
	var rows []int
	for i := range p.Threads {
		if active[i] {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, 0)
	}
	slices.SortFunc(rows, func(x, y int) int {
		return cmp.Or(cmp.Compare(p.Threads[x].Root, p.Threads[y].Root), cmp.Compare(p.Threads[x].Num, p.Threads[y].Num))
	})
	newRow := make([]int, len(p.Threads))
	threads := make([]profile.Thread, len(rows))
	for i, old := range rows {
		newRow[old] = i
		threads[i] = p.Threads[old]
	}
	p.Threads = threads
	b.rows = newRow
	for i := range p.Samples {
		if s := &p.Samples[i]; s.Thread >= 0 {
			s.Thread = newRow[s.Thread]
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		n.Region = newRegion[n.Region]
		for j := range n.Stats {
			n.Stats[j].Thread = newRow[n.Stats[j].Thread]
		}
		slices.SortFunc(n.Stats, func(x, y profile.ThreadStats) int { return cmp.Compare(x.Thread, y.Thread) })
	}
}

// inOrder compares regions in the order of reports.
func inOrder(r, s *profile.Region) int {
	return cmp.Or(cmp.Compare(r.Location.File, s.Location.File), cmp.Compare(r.Location.Begin, s.Location.Begin),
		cmp.Compare(r.Construct, s.Construct), cmp.Compare(r.Location.Object, s.Location.Object),
		cmp.Compare(r.Location.Offset, s.Location.Offset), cmp.Compare(r.Name, s.Name))
}

// regionIndex returns the profile's number of the region that an engine node became, -1 if it
// became none.
func (b *builder) regionIndex(n *node) int {
	m := b.placed[n]
	if m == nil {
		return -1
	}
	if i, ok := b.renumbered[m.region]; ok {
		return i
	}
	return -1
}
