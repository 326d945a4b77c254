package system

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"ompp-attach/event"
	"ompp-attach/mpi"
)

// Basis says what an estimate rests on.
type Basis string

// The bases, from the best to the worst.
const (
	Measured     Basis = "measured"
	Interpolated Basis = "interpolated" // between measured points, or of fewer bytes than measured
	Extrapolated Basis = "extrapolated" // beyond measured points
)

// worse returns the worse of two bases.
func (b Basis) worse(c Basis) Basis {
	order := []Basis{Measured, Interpolated, Extrapolated}
	return order[max(slices.Index(order, b), slices.Index(order, c))]
}

// Estimate is a cost in ns that was looked up.
type Estimate struct {
	Value float64
	// Error is the standard error: those of the measured points, by their weights. Beyond measured
	// points the distance from the last one is added.
	Error float64
	Basis Basis
	// Oversubscribed: a point that it rests on had more threads or processes than CPUs.
	Oversubscribed bool
	// Shared is that of OpenMP.
	Shared bool
	// From is what was measured in place of what was asked for: empty if it is the same.
	From string
}

// Construct returns the cost of one execution of a construct by a team of so many threads, as wall
// time. The empty variant is the usual one. ok is false if neither the construct nor one like it
// was measured.
func (p *Profile) Construct(c event.Construct, variant string, threads int) (e Estimate, ok bool) {
	for _, as := range append([]event.Construct{c}, alike[c]...) {
		if pts, shared := p.construct(as, variant, threads); len(pts) > 0 {
			e = pts.at(float64(threads))
			e.Shared = shared
			if as != c {
				e.From = as.String()
			}
			return e, true
		}
	}
	return Estimate{}, false
}

// alike lists constructs whose cost may stand for another's: the runtimes do the same for both.
var alike = map[event.Construct][]event.Construct{
	event.ParallelLoop:      {event.Parallel},
	event.ParallelSections:  {event.Parallel},
	event.ParallelWorkshare: {event.Parallel},
	event.Workshare:         {event.Loop},
	event.Scope:             {event.Barrier},
	event.Masked:            {event.Master},
	event.NestLock:          {event.Lock},
	event.UntiedTask:        {event.Task},
}

// construct returns the points of a construct over threads. Oversubscribed points serve only who
// asks for that many.
func (p *Profile) construct(c event.Construct, variant string, threads int) (pts points, shared bool) {
	named := variant != ""
	for _, o := range p.OpenMP {
		if o.Construct != c {
			continue
		}
		if !named {
			variant, named = o.Variant, true
		}
		if o.Variant == variant && (!o.Oversubscribed || threads > p.Machine.Affinity) {
			pts = append(pts, point{float64(o.Threads), o.Cost.Median, o.Cost.Error, o.Oversubscribed, Measured})
			shared = o.Shared
		}
	}
	return pts.sorted(), shared
}

// Message returns the time of one call of an MPI operation with so many bytes (MPI.Bytes) on so
// many processes. An empty where asks for the farthest distance that was measured. ok is false if
// neither the operation nor one of its kind was measured.
func (p *Profile) Message(op mpi.Op, bytes uint64, processes int, where Where) (e Estimate, ok bool) {
	as, ok := p.stand(op)
	if !ok {
		return Estimate{}, false
	}
	if as.Info().Kind == mpi.PointToPoint {
		processes = 2
	}
	at, ok := p.nearest(as, where)
	if !ok {
		return Estimate{}, false
	}
	pts := p.overProcesses(as, at, bytes, processes)
	if len(pts) == 0 {
		return Estimate{}, false
	}
	e = pts.at(math.Log2(float64(max(processes, 1))))
	switch {
	case as != op && where != "" && at != where:
		e.From = as.String() + ", " + string(at)
	case as != op:
		e.From = as.String()
	case where != "" && at != where:
		e.From = string(at)
	}
	return e, true
}

// stand returns the measured operation that stands for an operation: itself, or one of its kind.
func (p *Profile) stand(op mpi.Op) (mpi.Op, bool) {
	has := func(o mpi.Op) bool {
		return slices.ContainsFunc(p.MPI, func(m MPI) bool { return m.Operation == o })
	}
	if has(op) && op.String() != "MPI_Isend" { // which stands for the bandwidth of many messages
		return op, true
	}
	name, ok := kinds[op.Info().Kind]
	if op.String() == "MPI_Ibarrier" {
		name, ok = "MPI_Barrier", true
	}
	if !ok {
		return 0, false
	}
	as, ok := mpi.ParseOp(name)
	return as, ok && has(as)
}

// kinds names the operation that is measured of each kind.
var kinds = map[mpi.Kind]string{
	mpi.PointToPoint:  "MPI_Send",
	mpi.Bcast:         "MPI_Bcast",
	mpi.Reduce:        "MPI_Reduce",
	mpi.Allreduce:     "MPI_Allreduce",
	mpi.ReduceScatter: "MPI_Allreduce",
	mpi.Gather:        "MPI_Gather",
	mpi.Scatter:       "MPI_Scatter",
	mpi.Allgather:     "MPI_Allgather",
	mpi.Alltoall:      "MPI_Alltoall",
	mpi.Scan:          "MPI_Scan",
}

// nearest returns the measured distance next to the one asked for: farther ones first, because they
// promise less. Without a distance it is the farthest.
func (p *Profile) nearest(op mpi.Op, where Where) (Where, bool) {
	measured := func(w Where) bool {
		return slices.ContainsFunc(p.MPI, func(m MPI) bool { return m.Operation == op && m.Where == w })
	}
	from := max(slices.Index(distances, where), 0)
	order := slices.Clone(distances[from:])
	nearer := slices.Clone(distances[:from])
	slices.Reverse(nearer)
	if order = append(order, nearer...); where == "" {
		slices.Reverse(order)
	}
	i := slices.IndexFunc(order, measured)
	if i < 0 {
		return "", false
	}
	return order[i], true
}

// overProcesses looks the cost up over bytes at each measured number of processes. The result is
// over the logarithm of that number. A collective operation's processes are the farther apart the
// more they are, so numbers that were not measured at the distance serve at another one.
func (p *Profile) overProcesses(op mpi.Op, where Where, bytes uint64, processes int) (pts points) {
	at := map[int]points{}
	add := func(w Where) {
		more := map[int]points{}
		for _, m := range p.MPI {
			if m.Operation != op || m.Where != w || len(at[m.Processes]) > 0 || m.Oversubscribed && processes <= p.Machine.Affinity {
				continue
			}
			more[m.Processes] = append(more[m.Processes], point{float64(m.Bytes), m.Cost.Median, m.Cost.Error, m.Oversubscribed, Measured})
		}
		maps.Copy(at, more)
	}
	add(where)
	if op.Info().Kind != mpi.PointToPoint {
		for _, w := range distances {
			add(w)
		}
	}
	for n, byBytes := range at {
		byBytes = byBytes.sorted()
		e := byBytes.at(float64(bytes))
		if float64(bytes) < byBytes[0].x { // of a latency, nothing is left to tell
			e.Basis = Interpolated
		}
		pts = append(pts, point{math.Log2(float64(n)), e.Value, e.Error, e.Oversubscribed, e.Basis})
	}
	return pts.sorted()
}

// point is a cost at some x.
type point struct {
	x, y, err      float64
	oversubscribed bool
	basis          Basis
}

type points []point

func (s points) sorted() points {
	slices.SortStableFunc(s, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return s
}

// at looks y up at x, in points sorted by x, at least one.
func (s points) at(x float64) Estimate {
	i, found := slices.BinarySearchFunc(s, x, func(p point, x float64) int { return cmp.Compare(p.x, x) })
	switch {
	case found:
		return Estimate{Value: s[i].y, Error: s[i].err, Basis: s[i].basis, Oversubscribed: s[i].oversubscribed}
	case i == 0:
		return s.beyond(s[0], s[0], x) // below the least, a cost stays: a latency does not go to 0
	case i == len(s):
		return s.beyond(s[max(len(s)-2, 0)], s[len(s)-1], x)
	default:
		e := between(s[i-1], s[i], x)
		e.Basis = e.Basis.worse(Interpolated)
		return e
	}
}

// between is the line through two points, which differ in x.
func between(a, b point, x float64) Estimate {
	w := (x - a.x) / (b.x - a.x)
	return Estimate{
		Value:          a.y + w*(b.y-a.y),
		Error:          math.Hypot((1-w)*a.err, w*b.err),
		Basis:          a.basis.worse(b.basis),
		Oversubscribed: a.oversubscribed || b.oversubscribed,
	}
}

// beyond goes on along the line through a and last, but never below the last point: more threads,
// processes and bytes cost no less.
func (s points) beyond(a, last point, x float64) Estimate {
	e := Estimate{Value: last.y, Error: last.err, Oversubscribed: last.oversubscribed}
	if a.x != last.x {
		if on := between(a, last, x); on.Value > e.Value {
			e.Value, e.Error = on.Value, on.Error
		}
	}
	e.Error += math.Abs(e.Value - last.y)
	e.Basis = Extrapolated
	return e
}
