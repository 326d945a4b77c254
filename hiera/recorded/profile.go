package recorded

import (
	"path"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/hiera"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Notes are sentences on figures that a profile holds otherwise than the paper's traces.
const (
	NoteStartEnd = "Communication is without the calls that begin or end MPI."
	NoteAdded    = "The profile holds sums: deviations, smallest and largest times, and histograms of times are not known."
	NoteEstimate = "Some constructs were not observed all of the time: their counts and times are partly estimated (see the report)."
	NoteLost     = "Events were lost: counts and times are too low, see the report."
)

// Tally adds up a profile's regions. An execution of a region by a thread is an operation. Its
// level is the number of regions that it lies in. rank is that of the process. Partners are left
// out: see Partners.
func Tally(p *profile.Profile, rank int) *hiera.Tally {
	t := hiera.NewTally(hiera.Process{Rank: rank, End: p.Meta.Duration, Host: p.Meta.Host, PID: p.Meta.PID, Program: p.Meta.Program, Threads: analysis.Threads(p)})
	level := make([]int, len(p.Nodes))
	level[0] = -1
	for i := 1; i < len(p.Nodes); i++ {
		n := &p.Nodes[i]
		level[i] = level[n.Parent] + 1
		op := Op(&p.Regions[n.Region])
		for k := range n.Stats {
			f := figures(&n.Stats[k])
			t.AddGroup(level[i], &op, &f)
		}
	}
	communication(t, p)
	return t
}

// communication adds up how long the threads of a profile communicated. Some of them live for a
// part of the time only: initial threads other than the first one, and their teams.
func communication(t *hiera.Tally, p *profile.Profile) {
	ends, lives, joined := analysis.MPIStartEnd(p), analysis.LifeTimes(p), map[int]int{}
	for _, x := range p.Threads {
		if x.Num == 0 {
			joined[x.Root] = x.Joined
		}
	}
	for k := range p.Nodes[0].Stats {
		s := &p.Nodes[0].Stats[k]
		if s.MPI == nil || s.MPI.Calls == 0 {
			continue
		}
		n := max(1, joined[p.Threads[s.Thread].Root])
		if p.Threads[s.Thread].Num == profile.UnknownNum { // threads that have no other row
			n = int(lives[s.Thread] / max(1, p.Meta.Duration))
		}
		t.Communicating += n
		t.Lives += lives[s.Thread]
		t.Communication += max(0, s.MPI.T-ends.All[s.Thread])
	}
	if t.Communication > 0 {
		t.Communicating = max(1, t.Communicating)
	}
}

// figures are a thread's figures at a node.
func figures(s *profile.ThreadStats) hiera.Figures {
	f := hiera.Figures{Count: s.Exec.C, Time: s.Exec.T, Exclusive: max(0, s.Exec.T-s.Child)}
	if m := s.MPI; m != nil && s.Traffic != nil || m != nil && m.Sized > 0 {
		f.Sized = m.Sized
		f.Bytes = m.Out[mpi.Minimal] + m.In[mpi.Minimal]
	}
	if s.Traffic != nil {
		all := s.Traffic.Sent.Plus(s.Traffic.Received).Plus(s.Traffic.Moved)
		f.Sizes = hiera.Bins(all)
	}
	return f
}

// Op describes the operation that a region is, without its times.
func Op(r *profile.Region) hiera.Op {
	op := hiera.Op{Executions: 1, Bytes: hiera.Unknown, Dest: hiera.Unknown, Source: hiera.Unknown, Root: hiera.Unknown, Tag: hiera.Unknown,
		Peer: hiera.Unknown, From: hiera.Unknown}
	op.File, op.Line = place(&r.Location)
	switch {
	case r.Construct == event.MPI:
		op.Category, op.Name = hiera.MPI, hiera.OperationName(r.Name)
	case r.Construct == event.UserRegion:
		op.Category = hiera.User
		if r.Level != "" {
			op.Category = r.Level
		}
		op.Class, op.Name = method(r.Name)
		if op.Name == "" {
			op.Name = "(unnamed)"
		}
	default:
		op.Category, op.Name, op.Object = hiera.OpenMP, r.Construct.String(), r.Name
	}
	return op
}

// place returns the file and the line of a region. Where no line is known it is the function, or
// the address in the object file.
func place(l *profile.Location) (file string, line int) {
	switch {
	case l.File != "" && l.Begin > 0:
		return l.File, l.Begin
	case l.Function != "":
		return l.Function, 0
	}
	return path.Base(l.Object), 0
}

// method splits the name of a C++ method into its class and itself. Names of functions have no
// class. A demangled template has its result's type before its name, which is dropped.
func method(name string) (class, own string) {
	depth, last, begin := 0, -1, 0
	for i := 0; i+1 < len(name); i++ {
		switch name[i] {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		case ':':
			if depth == 0 && name[i+1] == ':' {
				last = i
			}
		case ' ':
			if depth == 0 && last < begin {
				begin = i + 1
			} else if depth == 0 && !strings.HasPrefix(name[last+2:], "operator") && !strings.Contains(name[last:i], ")") {
				begin, last = i+1, -1 // the type's name had a namespace
			}
		}
	}
	if last < 0 || strings.HasPrefix(name, "operator") {
		return "", name
	}
	return name[begin:last], name[last+2:]
}

// Statistics returns the statistics of the processes, with what a reader must know of their
// profiles.
func Statistics(tallies []*hiera.Tally, of []*profile.Meta) *hiera.Statistics {
	s := &hiera.Statistics{Processes: tallies, Notes: []string{NoteStartEnd, NoteAdded}}
	estimates, lost := false, false
	for _, m := range of {
		s.Program = m.Program
		estimates = estimates || len(m.Observations) > 0
		lost = lost || m.LostHits > 0
	}
	if estimates {
		s.Notes = append(s.Notes, NoteEstimate)
	}
	if lost {
		s.Notes = append(s.Notes, NoteLost)
	}
	s.Sort()
	return s
}

// Partner is what a process exchanged with another one; World is the other one's rank in
// MPI_COMM_WORLD, -1: not known.
type Partner struct {
	Rank, World int
	profile.Exchange
}

// AddPartners adds the messages of a process to its tally. Their times are not known singly.
func AddPartners(t *hiera.Tally, partners []Partner) {
	for _, p := range partners {
		if p.Rank != t.Rank {
			continue
		}
		world := p.World
		if world < 0 {
			world = hiera.Elsewhere
		}
		if p.Sends > 0 {
			x := hiera.Exchange{Messages: p.Sends, Sized: p.Sends, Bytes: p.Out}
			x.Add(t.Sent[world])
			t.Sent[world] = x
		}
		if p.Recvs > 0 {
			x := hiera.Exchange{Messages: p.Recvs, Sized: p.Recvs, Bytes: p.In}
			x.Add(t.Received[world])
			t.Received[world] = x
		}
	}
}
