package critical

// walk follows the path of a phase back from the beginning of a rank's call. took is how long the
// phase took (ns).
func (p *Path) walk(rank, number int, took int64) {
	known, complete := p.back(rank, number)
	unknown := int64(0)
	if !complete {
		unknown = max(0, took-known)
	}
	p.Length, p.Unknown = p.Length+known+unknown, p.Unknown+unknown
}

// back follows the path back, and returns its known time (ns). complete says that no part of the
// path is unknown.
func (p *Path) back(rank, number int) (known int64, complete bool) {
	clear(p.on)
	put := func(site int32, in bool, from, to uint64) {
		if t := int64(to) - int64(from); t > 0 {
			known += t
			p.time(rank, int(site), in).Path += t
			p.on[Work{p.path(rank, int(site)), in}] += t
		}
	}
	// Clocks of several machines are inexact. The path must not go in circles because of that.
	for steps := p.kept + 1; steps > 0; steps-- {
		k := &p.ranks[rank]
		c := k.at(number - 1)
		if next := k.at(number); next != nil {
			from := next.start
			if c != nil {
				from = c.end
				p.stretch(rank, next, c)
			}
			put(next.site, false, from, next.start)
		}
		first := number-1 == k.first && p.synced
		switch {
		case c == nil:
			return known, !p.synced && number == 0
		case first:
			put(c.site, true, c.over(), c.end)
			return known, true
		case c.state == unknown || c.state == open:
			return known, false
		}
		put(c.site, true, c.over(), c.end)
		number--
		if c.state == waited {
			if p.ranks[c.rank].at(int(c.call)) == nil {
				return known, false
			}
			p.Turns++
			p.Bound += c.bound
			rank, number = int(c.rank), int(c.call)
		}
	}
	return known, false
}

// stretch adds a rank's time between two of its calls.
func (p *Path) stretch(rank int, next, last *call) {
	site := int(last.site)
	if last.begun {
		site = -1
	}
	if t := int64(next.start) - int64(last.end); t > 0 {
		p.Stretches[Stretch{rank, int(next.site), site}] += t
	}
}

// time returns the times at a place, which the caller may add to.
func (p *Path) time(rank, site int, in bool) *Time {
	at := Place{rank, site, in}
	t := p.Times[at]
	if t == nil {
		t = &Time{}
		p.Times[at] = t
	}
	return t
}
