package forecast

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/model"
	"ompp-attach/mpi"
	"ompp-attach/signature"
	"ompp-attach/system"
)

// systemCosts are costs by a system profile. The signatures tell how often the program executes
// each construct and each MPI call. The profile tells what one execution costs. If runs spent more
// time in MPI than that, the rest was waiting for other ranks. This rest is fitted over the ranks.
type systemCosts struct {
	profile    *system.Profile
	constructs []executed
	calls      []called
	notFound   []string

	wait  model.Power
	alone *float64 // MPI of one rank
	forms []model.Form
}

// executed is how often a rank executes a construct. It counts the executions of one thread if each
// thread has its own executions, and those of all threads together otherwise.
type executed struct {
	construct event.Construct
	shared    sharing
	times     model.Power // over ranks
}

// sharing says how the threads of a rank share the executions of a construct.
type sharing int

const (
	each   sharing = iota // as many for each thread, at the same time as the others
	inTurn                // as many for any number of threads, one after the other
	spread                // as many for any number of threads, which share them out
)

// sharingOf supposes that the problem determines the number of contended executions and of tasks,
// and not the number of threads.
func sharingOf(c event.Construct, contended bool) sharing {
	switch {
	case contended, c.IsParallel(), c == event.Master, c == event.Masked, c == event.TaskLoop:
		return inTurn
	case c.CreatesTask():
		return spread
	}
	return each
}

// called is an MPI call site.
type called struct {
	op           mpi.Op
	times, bytes model.Power // of a rank; of a call
}

func newSystemCosts(profile *system.Profile, runs []Run, weak bool) (*systemCosts, error) {
	s := &systemCosts{profile: profile}
	for _, r := range runs {
		if r.Accounting != mpi.Minimal.String() {
			return nil, errors.New("the signature of " + r.Label + " has other bytes than the calls' own: write it anew, with --volumes " + mpi.Minimal.String())
		}
	}
	s.learnConstructs(runs)
	s.learnCalls(runs, weak)
	return s, nil
}

// learnConstructs adds up the executions of each construct. A parallel region counts once per
// start.
func (s *systemCosts) learnConstructs(runs []Run) {
	counts := map[event.Construct]map[int]float64{} // by run
	for i, r := range runs {
		for _, g := range r.Regions {
			k := g.Executions.Mean
			if g.Construct.IsParallel() {
				k = float64(g.Starts) / float64(r.Ranks)
			}
			if k == 0 || g.Construct == event.UserRegion {
				continue
			}
			if counts[g.Construct] == nil {
				counts[g.Construct] = map[int]float64{}
			}
			counts[g.Construct][i] += k
		}
	}
	for c, byRun := range counts {
		e, ok := s.profile.Construct(c, "", 1)
		if !ok {
			s.notFound = append(s.notFound, c.String())
			continue
		}
		x := executed{construct: c, shared: sharingOf(c, e.Shared)}
		if x.shared == each {
			for i := range byRun {
				byRun[i] /= float64(runs[i].Times.Threads)
			}
		}
		x.times = overRanks(runs, byRun, 0)
		s.constructs = append(s.constructs, x)
	}
	slices.SortFunc(s.constructs, func(a, b executed) int { return int(a.construct) - int(b.construct) })
	slices.Sort(s.notFound)
}

// overRanks fits counts of runs over the ranks. If all runs have the same number of ranks, the
// exponent is assumed.
func overRanks(runs []Run, byRun map[int]float64, assumed float64) model.Power {
	var x, y []float64
	for i, r := range runs {
		if byRun[i] > 0 {
			x, y = append(x, float64(r.Times.Ranks)), append(y, byRun[i])
		}
	}
	return model.Proportional(x, y, assumed)
}

// learnCalls notes each call site's operation, calls and bytes. A message counts at its sender. A
// single rank has no other to send to, so runs of one rank tell nothing.
func (s *systemCosts) learnCalls(runs []Run, weak bool) {
	type site struct{ operation, place string }
	counts, bytes := map[site]map[int]float64{}, map[site]map[int]float64{}
	var order []site
	for i, r := range runs {
		if r.Times.Ranks == 1 {
			continue
		}
		for j := range r.Calls {
			c := &r.Calls[j]
			n := max(c.Sends.Mean, c.Collectives.Mean)
			if n == 0 || !c.Communicates {
				continue
			}
			at := site{c.Operation, placeOf(c)}
			if counts[at] == nil {
				counts[at], bytes[at] = map[int]float64{}, map[int]float64{}
				order = append(order, at)
			}
			counts[at][i] += n
			bytes[at][i] = max(bytes[at][i], messageBytes(c, r.Times.Ranks))
		}
	}
	for _, at := range order {
		op, ok := mpi.ParseOp(at.operation)
		if _, found := s.profile.Message(op, 1, 2, ""); !ok || !found {
			if !slices.Contains(s.notFound, at.operation) {
				s.notFound = append(s.notFound, at.operation)
			}
			continue
		}
		surface := 0.
		if op.Info().Kind == mpi.PointToPoint && !weak {
			surface = surfaceOfGrid
		}
		s.calls = append(s.calls, called{op, overRanks(runs, counts[at], 0), overRanks(runs, bytes[at], surface)})
	}
}

// surfaceOfGrid is the assumed exponent of a message's bytes over the ranks, if runs do not tell
// it. It holds if a message is the edge of a rank's part of a two-dimensional grid.
const surfaceOfGrid = 0.5

func placeOf(c *signature.Call) string {
	l := &c.Location
	if l.File != "" && l.Begin > 0 {
		return fmt.Sprintf("%s:%d", l.File, l.Begin)
	}
	return fmt.Sprintf("%s+%#x", path.Base(l.Object), l.Offset)
}

// messageBytes returns the bytes that the count argument of a call stands for (system.MPI.Bytes).
// It derives them from the volumes of minimal accounting (mpi.Op.Volume). Signatures do not have
// the communicators' sizes, so collective operations are supposed to be of all ranks.
func messageBytes(c *signature.Call, ranks int) float64 {
	op, ok := mpi.ParseOp(c.Operation)
	calls := max(c.Calls.Mean, 1e-9)
	if !ok {
		return 0
	}
	others := float64(max(ranks-1, 1))
	switch op.Info().Kind {
	case mpi.PointToPoint:
		return c.Sent.Mean / max(c.Sends.Mean, 1e-9)
	case mpi.Bcast:
		return (c.Sent.Mean + c.Received.Mean) / calls
	case mpi.Reduce, mpi.Scan:
		return c.Sent.Mean / calls * float64(ranks) / others
	case mpi.Allreduce:
		return c.Sent.Mean / calls / others
	case mpi.Scatter:
		return c.Received.Mean / calls
	case mpi.Alltoall:
		return c.Sent.Mean / calls / float64(ranks)
	}
	return c.Sent.Mean / calls
}

const nanoseconds = 1e-9

// Overhead adds up the constructs.
func (s *systemCosts) Overhead(ranks, threads int) (out model.Cost) {
	for _, c := range s.constructs {
		e, _ := s.profile.Construct(c.construct, "", threads)
		k := c.times.At(float64(ranks)) * nanoseconds
		if c.shared == spread {
			k /= float64(threads)
		}
		out.Time += k * max(0, e.Value)
		out.Error = math.Hypot(out.Error, k*e.Error)
	}
	return out
}

// transfer adds up the MPI calls of a rank.
func (s *systemCosts) transfer(ranks int) (out model.Cost) {
	if ranks == 1 {
		return out
	}
	for _, c := range s.calls {
		p := float64(ranks)
		e, _ := s.profile.Message(c.op, uint64(max(0, c.bytes.At(p))), ranks, "")
		k := c.times.At(p) * nanoseconds
		out.Time += k * max(0, e.Value)
		out.Error = math.Hypot(out.Error, k*e.Error)
	}
	return out
}

// MPI is the time of the transfers, plus the fitted time of waiting.
func (s *systemCosts) MPI(ranks, _ int) model.Cost {
	out := s.transfer(ranks)
	if ranks == 1 && s.alone != nil {
		out.Time = *s.alone
		return out
	}
	out.Time += max(0, s.wait.At(float64(ranks)))
	return out
}

// waiting returns how much longer a run was in MPI than its transfers take.
func (s *systemCosts) waiting(p model.Measured) float64 {
	return max(0, p.MPI-s.transfer(p.Ranks).Time)
}

// supply is a model.Supplier.
func (s *systemCosts) supply(points []model.Measured) model.Costs {
	x := *s
	x.wait, x.alone, x.forms = model.FitRanks(points, s.waiting, nil)
	return &x
}

// Again fits the waiting anew to other times of the same runs.
func (s *systemCosts) Again(points []model.Measured) model.Costs {
	x := *s
	x.wait, x.alone, _ = model.FitRanks(points, s.waiting, &s.wait)
	return &x
}

// Forms returns the costs with each exponent of the waiting.
func (s *systemCosts) Forms() (forms []model.CostForm) {
	for _, f := range s.forms {
		x := *s
		x.wait = f.Power
		forms = append(forms, model.CostForm{Costs: &x, Weight: f.Weight})
	}
	return forms
}

// reconcile replaces the overheads of runs by those of the profile. If a run lost more than these
// overheads, the rest counts as waiting for threads: a barrier's own cost is in both figures.
func (s *systemCosts) reconcile(points []model.Measured) []model.Measured {
	points = slices.Clone(points)
	for i := range points {
		p := &points[i]
		own := s.Overhead(p.Ranks, p.Threads).Time
		p.Uneven = max(0, p.Uneven+float64(p.Threads)*(p.Overhead-own))
		p.Overhead = own
	}
	return points
}

// notes says what the costs rest on.
func (s *systemCosts) notes(runs []Run) (out []string) {
	if len(s.notFound) > 0 {
		out = append(out, "The system profile has no cost of "+strings.Join(s.notFound, ", ")+", nor of anything alike: what the runs took for that is waiting.")
	}
	out = append(out, s.origins()...)
	m := &s.profile.Machine
	if elsewhere := s.elsewhere(runs); elsewhere != nil {
		out = append(out, fmt.Sprintf("The system profile is of another machine, %s (%s), than the runs (%s). Costs of OpenMP and MPI are from the profile, the time of work is from the runs.",
			m.Host, m.Model, strings.Join(elsewhere, ", ")))
	}
	if own := s.profile.Software.MPILibrary.String(); own != "" {
		for _, r := range runs {
			if r.Library != "" && r.Library != own {
				out = append(out, fmt.Sprintf("The system profile is of another MPI library, %s, than %s (%s).", own, r.Label, r.Library))
				break
			}
		}
	}
	return out
}

// elsewhere returns the hosts of runs that the system profile was not measured on; nil: there are
// none.
func (s *systemCosts) elsewhere(runs []Run) (hosts []string) {
	for _, r := range runs {
		for _, h := range r.Hosts {
			if h != s.profile.Machine.Host && !slices.Contains(hosts, h) {
				hosts = append(hosts, h)
			}
		}
	}
	return hosts
}

// origins says which costs were measured for another, similar construct.
func (s *systemCosts) origins() (out []string) {
	var from []string
	add := func(name, other string) {
		if t := name + " by " + other; other != "" && !slices.Contains(from, t) {
			from = append(from, t)
		}
	}
	for _, c := range s.constructs {
		e, _ := s.profile.Construct(c.construct, "", 1)
		add(c.construct.String(), e.From)
	}
	for _, c := range s.calls {
		e, _ := s.profile.Message(c.op, 1, 2, "")
		add(c.op.String(), e.From)
	}
	if len(from) > 0 {
		out = append(out, "Costs of like constructs and operations stand for others: "+strings.Join(from, ", ")+".")
	}
	return out
}

// extrapolated says whether a cell's costs lie beyond what the profile measured.
func (s *systemCosts) extrapolated(ranks, threads int) bool {
	for _, c := range s.constructs {
		if e, _ := s.profile.Construct(c.construct, "", threads); e.Basis == system.Extrapolated {
			return true
		}
	}
	for _, c := range s.calls {
		p := float64(ranks)
		if e, _ := s.profile.Message(c.op, uint64(max(0, c.bytes.At(p))), ranks, ""); ranks > 1 && e.Basis == system.Extrapolated {
			return true
		}
	}
	return false
}
