package severity

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// The trees about waits between ranks beside Time.
const (
	LateRank  = "mpi_late_rank"
	RankWaits = "mpi_rank_waits"
)

// betweenRanks are the properties of waits between ranks, by the part of MPI's time that they
// divide. Package mpi/match has their rules.
var betweenRanks = []struct {
	of                                              match.Property
	below, id, name                                 string
	description, formula, diagnosis, helps, defined string
}{
	{match.WaitAtInit, "mpi_init_exit", ".wait_init", "Wait in MPI_Init", "Waiting for the last rank to come to MPI_Init.",
		"last E - E, where nobody left before the last one came", "The rank that came last started late, or did more before.",
		"Do less before MPI_Init at that rank, or ask the launcher's manual.", own},
	{match.InitCompletion, "mpi_init_exit", ".init_completion", "Completion of MPI_Init", "Leaving MPI_Init after the first rank has left.",
		"L - max(last E, first L)", "", "", expert},
	{match.WaitAtFinalize, "mpi_init_exit", ".wait_finalize", "Wait in MPI_Finalize", "Waiting for the last rank to come to MPI_Finalize.",
		"last E - E, where nobody left before the last one came", "The rank that came last had more to do at the end.",
		"Balance the work before MPI_Finalize.", scalasca},
	{match.WaitAtCreate, "mpi_windows", ".wait_create", "Wait at making a window", "Waiting for the last rank to come to the call that makes the window.",
		"last E - E, where nobody left before the last one came", "The report names the rank that came last, and where its call was.",
		"Make windows once, where ranks come together anyway.", scalasca},
	{match.WaitAtFree, "mpi_windows", ".wait_free", "Wait at freeing a window", "Waiting for the last rank to come to MPI_Win_free.",
		"last E - E, where nobody left before the last one came", "The report names the rank that came last, and where its call was.",
		"Free windows where ranks come together anyway.", scalasca},
	{match.WaitAtFence, "mpi_rma_synchronisation", ".wait_fence", "Wait at fence", "Waiting for the last rank to come to MPI_Win_fence.",
		"last E - E, where nobody left before the last one came", "The report names the rank that came last, and where its call was.",
		"Give work of the late rank to others, or use post and start between few ranks.", scalasca},
	{match.LatePost, "mpi_rma_synchronisation", ".late_post", "Late post", "Waiting to access other ranks' memory until all of them have exposed it.",
		"last E(MPI_Win_post) - E(MPI_Win_start or MPI_Win_complete), if L is later than that", "The report names the rank that exposed its memory last, and where.",
		"Post earlier at the late rank, or start later.", scalasca},
	{match.EarlyWait, "mpi_rma_synchronisation", ".early_wait", "Early wait", "Waiting in MPI_Win_wait for ranks that still access the memory.",
		"last E(MPI_Win_complete) - E(MPI_Win_wait)", "The report names the rank that completed last, and where.",
		"Complete earlier at the late rank, or do other work before MPI_Win_wait.", scalasca},
	{match.LockContention, "mpi_rma_synchronisation", ".lock_contention", "Lock contention", "Waiting for a lock of a window that another rank holds.",
		"last E(MPI_Win_unlock of a holder) - E(MPI_Win_lock), if L is later than that", "The report names the rank that held the lock last, and where it gave the lock back.",
		"Hold locks for a shorter time, use shared locks, or divide the window among ranks.", scalasca},
	{match.WaitAtBarrier, "mpi_barrier", ".wait", "Wait at MPI barrier", "Waiting for the last rank to come to the barrier.",
		"min(last E, L) - E", "The report names the rank that came last, and where its call was.",
		"Give work of the late rank to others, or remove the barrier.", expert},
	{match.BarrierCompletion, "mpi_barrier", ".completion", "MPI barrier completion", "Leaving the barrier after the first rank has left.",
		"L - max(last E, first L)", "", "", expert},
	{match.WaitAtNxN, "mpi_collective", ".wait_nxn", "Wait at N x N", "All receive from all: waiting for the last rank to come.",
		"min(last E, L) - E", "The report names the rank that came last, and where its call was.",
		"Give work of the late rank to others, or use nonblocking operations.", expert},
	{match.NxNCompletion, "mpi_collective", ".nxn_completion", "N x N completion", "Leaving after the first rank has left.",
		"L - max(last E, first L)", "", "", scalasca},
	{match.LateBroadcast, "mpi_collective", ".late_broadcast", "Late broadcast", "All receive from the root: waiting for the root to come.",
		"E(root) - E, at most until L", "The root had more to do before.", "Let the root call earlier, or do less at the root.", expert},
	{match.EarlyReduce, "mpi_collective", ".early_reduce", "Early reduce", "The root receives from all: it waits for the first one to send.",
		"first E of the others - E(root)", "The root came before all others.", "Give the root work of the others.", expert},
	{match.EarlyScan, "mpi_collective", ".early_scan", "Early scan", "Waiting for the last one of the lower ranks.",
		"last E of lower ranks - E", "A lower rank had more to do before.", "Balance the work between ranks.", scalasca},
	{match.LateSender, "mpi_point_to_point", ".late_sender", "Late sender", "Waiting to receive a message that was not sent yet.",
		"E(send) - E(receive or its wait), at most until L", "The report names the sender, and where it sent.",
		"Send earlier, receive later, or give the late rank less work.", expert},
	{match.LateSenderDone, "mpi_point_to_point", ".late_sender_completion", "Late sender completion", "After a late sender: receiving goes on behind the end of the send.",
		"L(receive) - L(send)", "", "", scalasca},
	{match.LateReceiver, "mpi_point_to_point", ".late_receiver", "Late receiver", "Waiting to send until the receive is posted.",
		"E(receive) - E(send or its wait), if L(send) is later than E(receive)", "The report names the receiver, and where it received.",
		"Post receives earlier (MPI_Irecv), or use nonblocking sends.", expert},
	{match.LateReceiverDone, "mpi_point_to_point", ".late_receiver_completion", "Late receiver completion", "After a late receiver: sending goes on behind the end of the receive.",
		"L(send) - L(receive)", "", "", scalasca},
}

// withRanks adds the properties of waits between ranks behind the one that each divides.
func withRanks(properties []Property) (out []Property) {
	for _, p := range properties {
		out = append(out, p)
		for _, x := range betweenRanks {
			if x.below != p.ID {
				continue
			}
			q := Property{ID: p.ID + x.id, Parent: p.ID, Name: x.name, Unit: Seconds, Source: x.defined,
				Description: x.description, Formula: x.formula, Diagnosis: x.diagnosis, Helps: x.helps}
			if x.helps != "" {
				q.Gain, q.Reported = Removal, true
			}
			out = append(out, q)
			if x.of == match.LateSender {
				out = append(out, wrongOrder(q.ID, sameSource, "Wrong order, same source", "The same rank had sent another message before, which is received later."),
					wrongOrder(q.ID, otherSource, "Wrong order, other source", "Another rank had sent a message before, which is received later."))
			}
			if x.of == match.LateReceiver {
				r := wrongOrder(q.ID, overtaken, "Late receiver, wrong order", "The sender had sent another message before to that rank, which asks for it later.")
				r.Formula = "the late receiver's whole wait"
				out = append(out, r)
			}
		}
		if p.ID == "mpi_point_to_point" {
			out = append(out, Property{ID: p.ID + nonblocking, Parent: p.ID, Name: "Wait for nonblocking collectives", Unit: Seconds, Source: own,
				Gain: Removal, Reported: true,
				Description: "Waiting, in a call that completes a collective operation, for ranks that have not begun it yet.",
				Formula:     "as of the blocking operation, with E of the call that waits",
				Diagnosis:   "The report names the rank that began it last.",
				Helps:       "Begin it earlier at the late rank, or wait for it later."})
		}
	}
	return out
}

func wrongOrder(parent, id, name, description string) Property {
	return Property{ID: parent + id, Parent: parent, Name: name, Unit: Seconds, Source: expert, Gain: Removal, Reported: true,
		Description: description, Formula: "the late sender's whole wait",
		Diagnosis: "The receives are in another order than the sends.",
		Helps:     "Receive in the order in which messages are sent, from any source, or by MPI_Irecv."}
}

// The ends of the names of wrong orders.
const (
	sameSource  = ".same_source"
	otherSource = ".other_source"
	overtaken   = ".wrong_order"
)

const nonblocking = ".nonblocking_collective"

var rankTrees = []Property{
	{ID: LateRank, Name: "Waits for a late rank", Unit: Seconds, Source: own,
		Description: "How long other ranks waited for the thread at its MPI call. It is a part of their time, not of its own.",
		Formula:     "sum of the others' waits that are due to this call"},
	{ID: RankWaits, Name: "Calls that waited for a rank", Unit: Count, Source: own,
		Description: "MPI calls that waited for another rank.", Formula: "number of calls"},
}

// rankPart returns the part of MPI's time that a wait at a node belongs to.
func (w *walker) rankPart(of match.Property, at string) (id string, ok bool) {
	switch of {
	case match.WrongOrder:
		id = "mpi_point_to_point.late_sender" + sameSource
	case match.WrongOrderOther:
		id = "mpi_point_to_point.late_sender" + otherSource
	case match.LateReceiverOrder:
		id = "mpi_point_to_point.late_receiver" + overtaken
	}
	for _, x := range betweenRanks {
		if x.of == of {
			if id = x.below + x.id; x.below != at && at == "mpi_point_to_point" {
				id = at + nonblocking
			}
		}
	}
	_, ok = w.byID[id]
	return id, ok && (id == at || len(id) > len(at) && id[:len(at)+1] == at+".")
}

// between adds the time of an MPI call, and divides it among the waits for other ranks. The time
// that probes took has been taken out of the call's time only. So if the parts exceed the call's
// time, all of them are reduced alike. kept is the share that is left of each.
func (w *walker) between(add func(string, int64), property string, s *profile.ThreadStats, t int64) (kept float64) {
	x := s.Ranks
	if x == nil || t <= 0 {
		add(property, t)
		return 0
	}
	parts := [match.NumProperties]int64{}
	var sum int64
	for p := range parts {
		parts[p] += max(0, x.Waits[p].T)
		if of, part := match.Property(p).Part(); part {
			parts[of] -= parts[p]
		} else {
			sum += max(0, x.Waits[p].T)
		}
	}
	for p := range parts {
		parts[p] = max(0, parts[p])
	}
	left := t
	kept = 1
	if sum > t {
		kept = float64(t) / float64(sum)
	}
	for p, v := range parts {
		id, ok := w.rankPart(match.Property(p), property)
		if !ok || v == 0 {
			continue
		}
		v = min(int64(float64(v)*kept), left)
		add(id, v)
		left -= v
	}
	add(property, left)
	return kept
}

// rankCauses adds the other ranks' waits for this rank, and notes for which ranks this one waited.
// kept is what between has left of this rank's waits.
func (w *walker) rankCauses(add func(string, int64), node int, property string, x *profile.RankWaits, kept float64) {
	if x == nil {
		return
	}
	add(LateRank, max(0, x.Caused.T))
	onJobPath(add, x)
	var n uint64
	for p, s := range x.Waits {
		switch match.Property(p) {
		case match.LateSender, match.LateReceiver, match.WaitAtBarrier, match.WaitAtNxN, match.LateBroadcast, match.EarlyReduce,
			match.EarlyScan, match.WaitAtInit, match.WaitAtFinalize, match.WaitAtFence, match.WaitAtCreate, match.WaitAtFree,
			match.LatePost, match.EarlyWait, match.LockContention:
			n += s.C
		}
	}
	add(RankWaits, int64(n))
	for _, d := range x.Due {
		if id, ok := w.rankPart(d.Property, property); ok {
			w.Blames = append(w.Blames, Blame{Property: w.byID[id], Path: node, Rank: d.Rank, DuePath: d.Node, DueThread: d.Thread,
				Time: int64(float64(d.T) * kept), Times: d.C, Bound: int64(math.Ceil(float64(d.Bound) * kept))})
		}
	}
}

// Blame says for which rank others waited, and where it was.
type Blame struct {
	Property int // index in Cube.Properties
	Path     int // index in Cube.Paths: of those who waited
	Rank     int // in MPI_COMM_WORLD
	DuePath  int // index in Cube.Paths: of the late rank
	// DueThread is its thread: index in Cube.Threads; -1: not known.
	DueThread int
	Time      int64
	Times     uint64
	Bound     int64 // how wrong Time may be, as clocks of machines were compared, ns; 0: exact
}

// place returns the blame without its figures.
func (b Blame) place() Blame {
	b.Time, b.Times, b.Bound = 0, 0, 0
	return b
}

func (b *Blame) add(o *Blame) {
	b.Time, b.Times, b.Bound = b.Time+o.Time, b.Times+o.Times, b.Bound+o.Bound
}

// Blamed returns the ranks for which others waited by a property at a path, the most severe first.
func (c *Cube) Blamed(property, path int) (out []Blame) {
	for _, b := range c.Blames {
		if b.Property == property && b.Path == path {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b Blame) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// blamed adds up the blames of processes. A late rank's path is known once that rank is added.
type blamed struct {
	sums  map[Blame]*Blame // without times; DuePath and DueThread are of that rank's profile
	nodes map[int][]int    // by rank: the path of each node
	rows  map[int][]int    // by rank: the row of each thread
}

func (s *Sum) blame(c *Cube, property, path, row []int) {
	if s.late.sums == nil {
		s.late = blamed{map[Blame]*Blame{}, map[int][]int{}, map[int][]int{}}
	}
	s.late.nodes[c.Processes[0].Rank], s.late.rows[c.Processes[0].Rank] = path, row
	for _, b := range c.Blames {
		b.Property, b.Path = property[b.Property], path[b.Path]
		k := b.place()
		sum := s.late.sums[k]
		if sum == nil {
			sum = &Blame{}
			*sum = k
			s.late.sums[k] = sum
		}
		sum.add(&b)
	}
}

// list returns the blames, with paths that were moved. level says what rows are.
func (l *blamed) list(moved []int, level Level) (out []Blame) {
	byPlace := map[Blame]*Blame{}
	for _, b := range l.sums {
		b.Path = moved[b.Path]
		if nodes := l.nodes[b.Rank]; b.DuePath >= 0 && b.DuePath < len(nodes) {
			b.DuePath = moved[nodes[b.DuePath]]
		} else {
			b.DuePath = 0
		}
		if rows := l.rows[b.Rank]; level == ByThread && b.DueThread >= 0 && b.DueThread < len(rows) {
			b.DueThread = rows[b.DueThread]
		} else {
			b.DueThread = -1
		}
		k := b.place()
		if byPlace[k] == nil {
			byPlace[k] = &Blame{}
			*byPlace[k] = k
		}
		byPlace[k].add(b)
	}
	for _, b := range byPlace {
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b Blame) int {
		return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.DuePath, b.DuePath),
			cmp.Compare(a.DueThread, b.DueThread))
	})
	return out
}
