package ledger

import "ompp-attach/profile"

// Toll is a kind of time that is recorded beside the measured times, as a part of them.
type Toll int

// The tolls.
const (
	ByProbes Toll = iota // time that the thread's probes took
	ByWait               // time that the thread waited for a core
	NumTolls
)

// toll is the part of an open region's time, in ns, that the thread's probes took, or that the
// thread passed without a core.
type toll struct {
	// By part of the region, regions entered from it included. The whole is the sum of all:
	// Exec holds what lies in none of the others.
	parts     [profile.NumParts]int64
	child     int64 // the share of the regions entered from it that have ended
	handed    int64 // the share that the region around has been charged with already (PayOpen)
	suspended int64 // in tasks that were executed while this region's clock stood still
	tasks     int64 // in tasks that were executed while waiting here
}

// some tells whether there is any toll. A comparison with the empty toll would call a function of
// the runtime.
func (y *toll) some() bool {
	p := &y.parts
	return p[0]|p[1]|p[2]|p[3]|p[4]|y.child|y.handed|y.suspended|y.tasks != 0
}

// own is the toll of the region's time.
func (y *toll) own() int64 {
	p := &y.parts
	return p[profile.Exec] + p[profile.Enter] + p[profile.Body] + p[profile.Barrier] + p[profile.Exit]
}

// whole is the toll of all the time that the region was open, tasks included.
func (y *toll) whole() int64 { return y.own() + y.suspended }

// due is what the region around has not been charged with yet.
func (y *toll) due() int64 { return y.whole() - y.handed }

// contain adds the toll of a region entered from this one.
func (y *toll) contain(d int64, part profile.Part) {
	y.child += d
	y.parts[part] += d
}

// Pay adds a toll to a part of an open region.
func (a *Account) Pay(k Toll, part profile.Part, d int64) { a.tolls[k].parts[part] += d }

// Contain adds the toll of a region entered from an open one.
func (a *Account) Contain(k Toll, part profile.Part, d int64) { a.tolls[k].contain(d, part) }

// Taken returns the time that probes took while the region was open, tasks included (ns).
func (a *Account) Taken() int64 { return a.tolls[ByProbes].whole() }

// TakenSince returns the part of Taken that the region around has not been charged with (ns).
func (a *Account) TakenSince() int64 { return a.tolls[ByProbes].due() }

// WaitForOther turns the toll of a single's body into that of a wait: another thread executes the
// body.
func (a *Account) WaitForOther() {
	for k := range a.tolls {
		p := &a.tolls[k].parts
		p[profile.Barrier], p[profile.Body] = p[profile.Barrier]+p[profile.Body], 0
	}
}

// addCost adds a toll to a cost, divided like the region's time. A construct may have no time in a
// part in which it has a toll. If all of its time is in one part, the toll moves there; otherwise
// it counts in the whole time only. It is done for each region that ends, so nothing is copied.
func (a *Account) addCost(k Toll, to **profile.Cost) {
	y := &a.tolls[k]
	for p := profile.Enter; p < profile.NumParts; p++ {
		if y.parts[p] != 0 && a.Parts[p].T == 0 {
			a.gather(y)
			break
		}
	}
	p := &y.parts
	if p[0]|p[1]|p[2]|p[3]|p[4]|y.child|y.tasks == 0 {
		return
	}
	c := *to
	if c == nil {
		c = &profile.Cost{}
		*to = c
	}
	c.Exec += y.own()
	c.Enter += p[profile.Enter]
	c.Body += p[profile.Body]
	c.Barrier += p[profile.Barrier]
	c.Exit += p[profile.Exit]
	c.Child += y.child
	c.Task += y.tasks
}

func (a *Account) gather(y *toll) {
	to, timed := profile.Exec, 0
	for p := profile.Enter; p < profile.NumParts; p++ {
		if a.Parts[p].T != 0 {
			to, timed = p, timed+1
		}
	}
	if timed != 1 {
		to = profile.Exec
	}
	for p := profile.Enter; p < profile.NumParts; p++ {
		if d := y.parts[p]; a.Parts[p].T == 0 && d != 0 {
			y.parts[p] = 0
			y.parts[to] += d
		}
	}
}
