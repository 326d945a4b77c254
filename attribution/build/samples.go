package build

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"ompp-attach/attribution/tree"
	"ompp-attach/profile"
)

// framer converts stacks of addresses to stacks of the profile's frames.
type framer struct {
	in     *Input
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
		b.framer = &framer{b.in, p, map[profile.Frame]int{}, map[uint64][]int{}, map[int32][]int{}}
	}
	// Frames are numbered in the order of this list.
	byStack := func(x, y tree.SampleID) int { return cmp.Compare(x.Stack, y.Stack) }
	var list []profile.Sample
	for _, id := range slices.SortedFunc(maps.Keys(n.samples), byStack) {
		s := n.samples[id]
		id.Seat = b.in.SeatOfSample(id)
		if node == 0 && id.Phase == "" && id.Seat >= 0 && b.in.Threads[id.Seat].Num > 0 {
			id.Phase = profile.PhaseIdle
		}
		list = append(list, profile.Sample{Node: node, Thread: id.Seat, Phase: id.Phase, Stack: b.framer.stack(id.Stack),
			Kernel: id.Kernel, Cut: id.Cut, Count: s.Count, Weight: s.Weight})
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
	b := []byte(f.in.Stacks[n])
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
	places := f.in.Tree.Answers.Code(addr)
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
