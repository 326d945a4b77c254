package event

import "runtime"

// LeftOut tells how many hits of a thread wrote no record, since the last event that tells of such
// hits. It holds a number of each kind from ProbeNop5 on, of leftOutBits bits (bpf/shared.h). The
// hits are those of calls that a library made itself. Two kinds of events tell of them: the end of
// a function of a level, and the begin of a region's body in libomp.
type LeftOut uint64

const (
	leftOutKinds = ProbeSingleStep - ProbeNop5 + 1
	leftOutBits  = 12
)

// Of returns the number of hits of a kind, from ProbeNop5 to ProbeSingleStep.
func (l LeftOut) Of(p Probe) uint64 {
	return uint64(l) >> (leftOutBits * uint(p-ProbeNop5)) & (1<<leftOutBits - 1)
}

// Hits returns the number of all hits.
func (l LeftOut) Hits() (n uint64) {
	for p := ProbeNop5; p <= ProbeSingleStep; p++ {
		n += l.Of(p)
	}
	return n
}

// Cost returns the number of the hits, and the time that they took, in ns. c is what hits cost.
func (l LeftOut) Cost(c *HitCosts) (hits uint64, ns int64) {
	for p := ProbeNop5; p <= ProbeSingleStep; p++ {
		n := l.Of(p)
		hits += n
		ns += int64(n) * c.Kinds[p.LeftOut()].Sum()
	}
	return hits, ns
}

// siteReads is the number of reads of memory that the return address takes: on arm64 it is in a
// register.
var siteReads = map[string]int{"amd64": 1}[runtime.GOARCH]

// LeftOut returns the kind of a hit at the entry of a function of which the record is left out.
func (p Probe) LeftOut() Probe {
	return (p.WithoutReads() - ProbeNop5 + ProbeLeftOut).Reading(siteReads)
}
