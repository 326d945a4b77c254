package flows

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// The nodes of the timelines that tests make.
const (
	nodeSend int32 = iota + 1
	nodeIsend
	nodeRecv
	nodeIrecv
	nodeSendrecv
	nodeCancel
	nodeStart
	nodeMprobe
	nodeCritical
	nodeLock
	nodeNest
	nodeCreation
	nodeTask
	nodes
)

// recorded returns a timeline with the given spans.
// change makes another dictionary of the usual one.
func recorded(t testing.TB, spans []timeline.Span, change func(*timeline.Dictionary)) *timeline.File {
	t.Helper()
	return planned(t, timeline.Plan{Cap: 1 << 30}, spans, change)
}

// planned is recorded, by a plan.
func planned(t testing.TB, plan timeline.Plan, spans []timeline.Span, change func(*timeline.Dictionary)) *timeline.File {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: plan, PID: 77, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range spans {
		s := spans[i]
		rec.Span(&s)
	}
	d := &timeline.Dictionary{Nodes: []timeline.Node{{Parent: -1, Region: -1}}, Threads: []profile.Thread{{}}, NodeOf: []int32{0}, SeatOf: []int32{0}}
	for _, r := range []profile.Region{{Construct: event.MPI, Name: "MPI_Send"}, {Construct: event.MPI, Name: "MPI_Isend"},
		{Construct: event.MPI, Name: "MPI_Recv"}, {Construct: event.MPI, Name: "MPI_Irecv"}, {Construct: event.MPI, Name: "MPI_Sendrecv"},
		{Construct: event.MPI, Name: "MPI_Cancel"}, {Construct: event.MPI, Name: "MPI_Start"}, {Construct: event.MPI, Name: "MPI_Mprobe"},
		{Construct: event.Critical}, {Construct: event.Lock}, {Construct: event.NestLock}, {Construct: event.Task}, {Construct: event.TaskExec}} {
		d.Regions = append(d.Regions, r)
		d.Nodes = append(d.Nodes, timeline.Node{Region: len(d.Regions) - 1})
		d.NodeOf = append(d.NodeOf, int32(len(d.Regions)))
	}
	if change != nil {
		change(d)
	}
	rec.End(d)
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	f, err := timeline.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// asRank makes a dictionary that of a rank.
func asRank(rank, size int) func(*timeline.Dictionary) {
	return func(d *timeline.Dictionary) { d.Meta.MPI = &profile.MPIJob{Rank: rank, Size: size} }
}

// called is a call in MPI_COMM_WORLD.
func called(node int32, from, to uint64, peer, tag int32) timeline.Span {
	return timeline.Span{TID: 5, Node: node, Kind: timeline.Call, From: from, To: to, Exec: profile.Sum{T: int64(to - from), C: 1},
		Call: timeline.MPI{Comm: 1, Flags: mpi.World, Peer: peer, Peer2: mpi.NoPeer, Tag: tag, Out: 8, In: 8}}
}

// messages returns the found messages: "0.1 -> 2.3" leads from the second call of rank 0 to the
// fourth one of rank 2.
func messages(t testing.TB, f *Flows, files []*timeline.File) (out []string) {
	t.Helper()
	ends := map[uint64][2]string{}
	for i, file := range files {
		for _, tid := range file.TIDs() {
			for _, m := range f.Thread(i, tid) {
				e := ends[m.ID]
				if m.Role == Sends {
					e[0] = fmt.Sprintf("%d.%d", i, m.Span)
				} else if m.Role == Receives {
					e[1] = fmt.Sprintf("%d.%d", i, m.Span)
				}
				ends[m.ID] = e
			}
		}
	}
	for id, e := range ends {
		if e[0] == "" || e[1] == "" {
			t.Errorf("flow %d has one end only: %q", id, e)
		}
		out = append(out, e[0]+" -> "+e[1])
	}
	slices.Sort(out)
	if len(out) != f.Messages {
		t.Errorf("%d messages, and %d are told", f.Messages, len(out))
	}
	return out
}

func TestMessages(t *testing.T) {
	anyTag := int32(-1)
	sendrecv := called(nodeSendrecv, 10, 60, 1, 3)
	sendrecv.Call.Peer2 = 1
	elsewhere := called(nodeSend, 1, 2, 1, 0)
	elsewhere.Call.Flags, elsewhere.Call.Comm = 0, 9
	unknown := elsewhere
	unknown.Call.Comm = 0
	tooLong := called(nodeSend, 1, 2, 1, 0)
	tooLong.Call.Out = 9
	second := called(nodeRecv, 8, 9, 0, 0)
	second.TID = 6
	cut := called(nodeRecv, 5, 9, 0, 0)
	cut.Flags = timeline.Open
	for _, tc := range []struct {
		name    string
		ranks   [][]timeline.Span
		size    int // of MPI_COMM_WORLD; 0: as many as there are
		change  func(rank int, d *timeline.Dictionary)
		want    string
		without string
	}{
		{name: "in order", want: "0.0 -> 1.0, 0.1 -> 1.1", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0), called(nodeIsend, 3, 4, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0), called(nodeRecv, 5, 6, 0, 0)}}},
		{name: "tags overtake", want: "0.0 -> 1.1, 0.1 -> 1.0", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 7), called(nodeSend, 3, 4, 1, 8)}, {called(nodeRecv, 0, 5, 0, 8), called(nodeRecv, 5, 6, 0, 7)}}},
		{name: "a nonblocking receive takes its message", want: "0.1 -> 1.1", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0), called(nodeSend, 3, 4, 1, 0)}, {called(nodeIrecv, 0, 1, 0, 0), called(nodeRecv, 5, 6, 0, 0)}}},
		{name: "from any of one sender", want: "0.0 -> 1.0", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, mpi.AnySource, anyTag)}}},
		{name: "from any of two", want: "0.0 -> 2.0", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 2, 0), called(nodeSend, 3, 4, 2, 0)}, {called(nodeSend, 1, 2, 2, 0)},
			{called(nodeRecv, 0, 5, 0, 0), called(nodeRecv, 5, 6, mpi.AnySource, 0), called(nodeRecv, 6, 7, 0, 0)}}},
		{name: "from any, and a rank is missing", size: 3, want: "", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, mpi.AnySource, 0)}}},
		{name: "a rank is missing", size: 3, want: "0.0 -> 1.0", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "exchange", want: "0.0 -> 1.0, 1.1 -> 0.0", ranks: [][]timeline.Span{
			{sendrecv}, {called(nodeRecv, 1, 20, 0, 3), called(nodeSend, 20, 30, 0, 4)}}},
		{name: "nobody", want: "", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, mpi.ProcNull, 0)}, {called(nodeRecv, 0, 5, mpi.ProcNull, 0)}}},
		{name: "a send that is not recorded", want: "", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 0, 0)}, {called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "another communicator", want: "0.1 -> 1.0", ranks: [][]timeline.Span{
			{elsewhere, called(nodeSend, 3, 4, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "a communicator that is not known", want: "", without: "communicator", ranks: [][]timeline.Span{
			{unknown, called(nodeSend, 3, 4, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "received before it was sent", want: "", without: "do not fit", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0), called(nodeSend, 9, 10, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0), called(nodeRecv, 6, 7, 0, 0)}}},
		{name: "too long", want: "", without: "do not fit", ranks: [][]timeline.Span{{tooLong}, {called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "under way at the end", want: "", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {cut}}},
		{name: "cancelled", want: "", without: "cancels", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0), called(nodeCancel, 6, 7, 0, 0)}}},
		{name: "persistent", want: "", without: "persistent", ranks: [][]timeline.Span{
			{called(nodeStart, 0, 1, 0, 0), called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "matched probes", want: "", without: "matched", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0)}, {called(nodeMprobe, 0, 1, 0, 0), called(nodeRecv, 0, 5, 0, 0)}}},
		{name: "two threads receive", want: "", without: "several of its threads", ranks: [][]timeline.Span{
			{called(nodeSend, 1, 2, 1, 0), called(nodeSend, 3, 4, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0), second}}},
		{name: "attached", want: "", without: "began after", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) { d.Meta.Attached = rank == 0 }},
		{name: "lost events", want: "", without: "lost", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) { d.Meta.LostHits = uint64(rank) }},
		{name: "left out", want: "", without: "left out", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) { d.Meta.LeftOut = []string{"MPI_Irecv"} }},
		{name: "queries are left out", want: "0.0 -> 1.0", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) {
				d.Meta.LeftOut = []string{"MPI calls that only look up", "loop"}
			}},
		{name: "not observed", want: "", without: "not observed", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) {
				d.Meta.Observations = []profile.Observation{{Of: event.SetOf(event.MPI)}}
			}},
		{name: "a rank twice", want: "", without: "two processes", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) { d.Meta.MPI.Rank = min(rank, 1) }},
		{name: "two machines", want: "", ranks: [][]timeline.Span{{called(nodeSend, 1, 2, 1, 0)}, {called(nodeRecv, 0, 5, 0, 0)}},
			change: func(rank int, d *timeline.Dictionary) { d.Meta.Host = fmt.Sprint(rank) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var files []*timeline.File
			for i, spans := range tc.ranks {
				files = append(files, recorded(t, spans, func(d *timeline.Dictionary) {
					asRank(i, max(tc.size, len(tc.ranks)))(d)
					if tc.change != nil {
						tc.change(i, d)
					}
				}))
			}
			f, err := Find(files)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(messages(t, f, files), ", "); got != tc.want {
				t.Errorf("messages %q, want %q", got, tc.want)
			}
			if got := strings.Join(f.Without, "; "); (tc.without != "") != (got != "") || !strings.Contains(got, tc.without) {
				t.Errorf("told %q, want %q", got, tc.without)
			}
		})
	}
}

// A timeline that lacks its begin proves nothing; what lies before a gap is proven.
func TestMessagesWithGaps(t *testing.T) {
	sends := []timeline.Span{called(nodeSend, 1, 2, 1, 0), called(nodeSend, 30, 31, 1, 0), called(nodeSend, 60, 61, 1, 0)}
	recvs := []timeline.Span{called(nodeRecv, 3, 4, 0, 0), called(nodeRecv, 32, 33, 0, 0), called(nodeRecv, 62, 63, 0, 0)}
	for _, tc := range []struct {
		plan, want string
		without    int
	}{
		{plan: "", want: "0.0 -> 1.0, 0.1 -> 1.1, 0.2 -> 1.2"},
		{plan: "first:40ns", want: "0.0 -> 1.0, 0.1 -> 1.1"},
		{plan: "from:20ns,for:40ns", without: 2},
	} {
		plan := timeline.Plan{Cap: 1 << 30}
		if tc.plan != "" {
			p, err := timeline.ParsePlan(tc.plan)
			if err != nil {
				t.Fatal(err)
			}
			plan = *p
		}
		files := []*timeline.File{planned(t, plan, sends, asRank(0, 2)), planned(t, plan, recvs, asRank(1, 2))}
		f, err := Find(files)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(messages(t, f, files), ", "); got != tc.want || len(f.Without) != tc.without {
			t.Errorf("%q: messages %q, want %q; told %q", tc.plan, got, tc.want, f.Without)
		}
	}
}

// The found messages of random programs are those that a model of MPI delivers.
func TestMessagesModel(t *testing.T) {
	found, sure := 0, 0
	for seed := range uint64(90) {
		m := newModel(rand.New(rand.NewPCG(seed, 1)), seed%3 == 0)
		m.run()
		var files []*timeline.File
		for i, p := range m.procs {
			files = append(files, recorded(t, p.spans, asRank(i, len(m.procs))))
		}
		f, err := Find(files)
		if err != nil {
			t.Fatal(err)
		}
		got := messages(t, f, files)
		for _, g := range got {
			if !m.truth[g] {
				t.Fatalf("seed %d: the message %s is not true", seed, g)
			}
		}
		if !m.wild && len(got) != len(m.truth) {
			t.Fatalf("seed %d: %d messages of %d", seed, len(got), len(m.truth))
		}
		if m.wild {
			found += len(got)
		} else {
			sure += len(got)
		}
	}
	if found < 50 || sure < 300 {
		t.Errorf("%d and %d messages are too few to show anything", found, sure)
	}
}
