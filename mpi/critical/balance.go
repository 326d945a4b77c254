package critical

// balance adds each rank's own time in a phase that lasted took ns. For rank i, the phase ended
// when its call numbers[i] began. Then balance finds, for each call path, the most that the job
// would save if the ranks shared the time in this call path evenly. Their sum stays the same, and
// so do all other times:
//
//   - The path's other parts stay. So the job saves no more than the path's time in the call path.
//   - Each rank keeps its other own time, and gets an even share of the time in the call path. So
//     the phase lasts at least as long as the most other time of a rank, plus this share.
//
// The unknown part of the path may lie in any call path.
func (p *Path) balance(numbers []int, took int64) {
	known := int64(0)
	for _, t := range p.on {
		known += t
	}
	unknown := max(0, took-known)
	all := map[Work]int64{}
	busy := make([]int64, len(p.ranks))
	for rank := range p.ranks {
		own := p.owned(rank, numbers[rank])
		for w, t := range own {
			busy[rank] += t
			all[w] += t
		}
	}
	for w, sum := range all {
		most := p.on[w] + unknown
		if most == 0 {
			continue
		}
		other := int64(0)
		for rank := range p.ranks {
			other = max(other, busy[rank]-p.own[rank][w])
		}
		if saves := min(most, took-other-sum/int64(len(p.ranks))); saves > 0 {
			p.Saves[w] += saves
		}
	}
}

// owned returns a rank's own times in the phase by call path (ns), up to the beginning of its call
// with the given number.
func (p *Path) owned(rank, number int) map[Work]int64 {
	own := p.own[rank]
	clear(own)
	k := &p.ranks[rank]
	put := func(site int32, in bool, from, to uint64) {
		if t := int64(to) - int64(from); t > 0 {
			own[Work{p.path(rank, int(site)), in}] += t
			p.time(rank, int(site), in).Own += t
		}
	}
	for i := range k.list {
		c := &k.list[i]
		if i > 0 {
			put(c.site, false, k.list[i-1].end, c.start)
		}
		if k.first+i >= number {
			break
		}
		if c.state == free || c.state == waited || i == 0 && p.synced {
			put(c.site, true, c.over(), c.end)
		}
	}
	return own
}
