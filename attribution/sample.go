package attribution

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Samples. A sample counts for the innermost region that its thread has open, and changes nothing
// else. A sample that was taken in a probe may be read before the probe's record; the two differ by
// some microseconds.

// maxStackBytes bounds the memory of different stacks: 100 000 stacks of 20 frames.
const maxStackBytes = 16 << 20

// maxPlaces bounds the number of different combinations of thread, region and stack: some 60 MB,
// and about 1 MB of the recorded profile.
const maxPlaces = 1 << 18

// sampling is the engine's state of samples.
type sampling struct {
	stackOf map[string]int32 // index in stacks, by the stack's addresses
	stacks  []string
	bytes   int
	// Number of samples whose callers were left out, because there were too many stacks.
	folded uint64
	taken  uint64
	places int
}

// sampleID is what equal samples of a node have in common.
type sampleID struct {
	row         int
	tid         uint32 // of a thread whose row is not known yet
	phase       string
	stack       int32
	kernel, cut bool
}

type sampleSum struct{ count, weight uint64 }

// sums holds the samples of one node.
type sums map[sampleID]sampleSum

func (s *sums) add(id sampleID, n sampleSum) {
	if *s == nil {
		*s = sums{}
	}
	was := (*s)[id]
	(*s)[id] = sampleSum{was.count + n.count, was.weight + n.weight}
}

func (s *sums) addAll(o sums) {
	for id, n := range o {
		s.add(id, n)
	}
}

// lateSample is a sample behind a thread's body in its team. It waits until the time of the team's
// join is known.
type lateSample struct {
	time, weight uint64
	id           sampleID
}

// sample charges a sample.
func (e *Engine) sample(t *thread, ev *event.Event) {
	s := ev.Sample
	if s == nil || len(s.Stack) == 0 || e.offSince != 0 && ev.Time >= e.offSince {
		return
	}
	e.sampling.taken++
	id := sampleID{row: t.row, stack: e.sampling.intern(s.Stack), kernel: s.Kernel, cut: s.Cut}
	if s.Changing || s.Probe {
		id.phase = profile.PhaseProbe
	}
	var f *frame
	for i := len(t.stack) - 1; i >= 0 && f == nil; i-- {
		if g := &t.stack[i]; !g.internal && g.phase != done {
			f = g
		}
	}
	switch {
	case f == nil:
		if !t.known {
			id.row, id.tid = -1, t.tid
		}
		e.addSample(e.root, id, s.Weight)
	case f.team != nil && f.phase == inBarrier:
		id.row = f.row
		late := lateSample{ev.Time, s.Weight, id}
		// The team's memory is in use again: this thread's execution was over.
		if m := f.team; m.forked > f.Mark {
			e.idleSample(&late)
		} else if m.charged {
			e.settleSample(m, &late)
		} else {
			m.late = append(m.late, late)
		}
	default:
		if id.row = f.row; id.phase == "" {
			id.phase = f.phase.sampled()
		}
		e.addSample(f.node, id, s.Weight)
	}
}

func (p phase) sampled() string {
	switch p {
	case starting, entering:
		return profile.PhaseEnter
	case inBarrier:
		return profile.PhaseBarrier
	case leaving:
		return profile.PhaseExit
	}
	return profile.PhaseBody
}

// settleSamples charges the samples of a team's threads that were taken behind their bodies.
func (e *Engine) settleSamples(m *team) {
	for i := range m.late {
		e.settleSample(m, &m.late[i])
	}
	m.late = m.late[:0]
}

func (e *Engine) settleSample(m *team, s *lateSample) {
	switch {
	case m.joined != 0 && s.time > m.joined:
		e.idleSample(s)
		return
	case s.id.phase == profile.PhaseProbe: // a sample in a probe keeps its phase
	case m.last != 0 && s.time > m.last:
		s.id.phase = profile.PhaseExit
	default:
		s.id.phase = profile.PhaseBarrier
	}
	e.addSample(m.node, s.id, s.weight)
}

func (e *Engine) idleSample(s *lateSample) {
	if s.id.phase != profile.PhaseProbe {
		s.id.phase = profile.PhaseIdle
	}
	e.addSample(e.root, s.id, s.weight)
}

// addSample adds a sample to a node. When there are too many places, new ones keep only their
// innermost address.
func (e *Engine) addSample(n *node, id sampleID, weight uint64) {
	if _, known := n.samples[id]; !known {
		const addr = 8
		if s := e.sampling.stacks[id.stack]; e.sampling.places >= maxPlaces && len(s) > addr {
			id.stack = e.sampling.intern([]uint64{binary.LittleEndian.Uint64([]byte(s[:addr]))})
			e.sampling.folded++
		}
		e.sampling.places++
	}
	n.samples.add(id, sampleSum{1, weight})
}

// intern returns the number of a stack. When there are too many stacks, new ones keep only their
// innermost address.
func (s *sampling) intern(stack []uint64) int32 {
	if s.stackOf == nil {
		s.stackOf = map[string]int32{}
	}
	b := make([]byte, 0, 512)
	for _, addr := range stack {
		b = binary.LittleEndian.AppendUint64(b, addr)
	}
	n, known := s.stackOf[string(b)]
	if known {
		return n
	}
	if s.bytes += len(b); s.bytes > maxStackBytes && len(stack) > 1 {
		s.bytes -= len(b)
		s.folded++
		return s.intern(stack[:1])
	}
	n = int32(len(s.stacks))
	s.stacks = append(s.stacks, string(b))
	s.stackOf[s.stacks[n]] = n
	return n
}

// note returns the warning about samples whose callers were left out, if there are any.
func (s *sampling) note() []string {
	if s.folded == 0 {
		return nil
	}
	return []string{fmt.Sprintf("More different call stacks were sampled than could be kept: of %d samples only the innermost function is known.", s.folded)}
}

// rowOfSample returns the row of a sample. A thread may have got its row after the sample; the
// result is -1 if it never got one.
func (e *Engine) rowOfSample(id sampleID) int {
	if id.row >= 0 {
		return id.row
	}
	if t := e.threads[id.tid]; t != nil && t.known {
		return t.row
	}
	return -1
}

// framer converts stacks of addresses to stacks of the profile's frames.
type framer struct {
	engine *Engine
	out    *profile.Profile
	index  map[profile.Frame]int
	at     map[uint64][]int // by address in the process
	stacks map[int32][]int
}

// sampled writes a node's samples to the profile.
func (b *builder) sampled(p *profile.Profile, n *built, node int) {
	if len(n.samples) == 0 {
		return
	}
	if b.framer == nil {
		b.framer = &framer{b.engine, p, map[profile.Frame]int{}, map[uint64][]int{}, map[int32][]int{}}
	}
	// Frames are numbered in the order of this list.
	byStack := func(x, y sampleID) int { return cmp.Compare(x.stack, y.stack) }
	var list []profile.Sample
	for _, id := range slices.SortedFunc(maps.Keys(n.samples), byStack) {
		s := n.samples[id]
		id.row = b.engine.rowOfSample(id)
		if node == 0 && id.phase == "" && id.row >= 0 && b.engine.rows[id.row].Num > 0 {
			id.phase = profile.PhaseIdle
		}
		list = append(list, profile.Sample{Node: node, Thread: id.row, Phase: id.phase, Stack: b.framer.stack(id.stack),
			Kernel: id.kernel, Cut: id.cut, Count: s.count, Weight: s.weight})
	}
	slices.SortFunc(list, alike)
	for i := range list { // instructions of one line are one place
		if last := len(p.Samples) - 1; i > 0 && alike(p.Samples[last], list[i]) == 0 {
			p.Samples[last].Count += list[i].Count
			p.Samples[last].Weight += list[i].Weight
			continue
		}
		p.Samples = append(p.Samples, list[i])
	}
}

// alike orders the samples of one node. Samples that compare equal are added up.
func alike(x, y profile.Sample) int {
	number := func(s *profile.Sample) (n int) {
		if s.Kernel {
			n = 1
		}
		if s.Cut {
			n += 2
		}
		return n
	}
	// Samples of one stack stand together, which makes the file smaller by a sixth.
	return cmp.Or(slices.Compare(x.Stack, y.Stack), cmp.Compare(x.Phase, y.Phase), cmp.Compare(number(&x), number(&y)),
		cmp.Compare(x.Thread, y.Thread))
}

// stack returns the frames of a stack, the innermost first.
func (f *framer) stack(n int32) []int {
	out, known := f.stacks[n]
	if known {
		return out
	}
	b := []byte(f.engine.sampling.stacks[n])
	for i := 0; i < len(b); i += 8 {
		addr := binary.LittleEndian.Uint64(b[i:])
		if i > 0 {
			// A return address may belong to another line, or another function, than
			// its call.
			addr--
		}
		out = append(out, f.places(addr)...)
	}
	f.stacks[n] = out
	return out
}

func (f *framer) places(addr uint64) []int {
	list, known := f.at[addr]
	if known {
		return list
	}
	places := f.engine.resolve.Code(addr)
	if len(places) == 0 {
		places = []profile.Frame{{Offset: addr}}
	}
	for _, p := range places {
		i, known := f.index[p.Place()]
		if !known {
			i = len(f.out.Frames)
			f.out.Frames = append(f.out.Frames, p)
			f.index[p.Place()] = i
		}
		list = append(list, i)
	}
	f.at[addr] = list
	return list
}
