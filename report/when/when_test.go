package when

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/clocks"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// The nodes of recorded.
const (
	parallel int32 = iota + 1
	loop
	send
	recv
	user
	critical
)

func recorded(t testing.TB, rank int, spans ...timeline.Span) *timeline.File {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 30}, PID: 77 + rank, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range spans {
		s := spans[i]
		rec.Span(&s)
	}
	d := &timeline.Dictionary{Nodes: []timeline.Node{{Parent: -1, Region: -1}}, Threads: []profile.Thread{{Num: 3}}, NodeOf: []int32{0}, SeatOf: []int32{0}}
	d.Meta.MPI = &profile.MPIJob{Rank: rank, Size: 2}
	for i, r := range []profile.Region{{Construct: event.Parallel}, {Construct: event.Loop}, {Construct: event.MPI, Name: "MPI_Send"},
		{Construct: event.MPI, Name: "MPI_Recv"}, {Construct: event.UserRegion, Name: "dgemm_", Level: "blas"}, {Construct: event.Critical}} {
		r.Location = profile.Location{File: "a.c", Begin: i + 1}
		d.Regions = append(d.Regions, r)
		d.Nodes = append(d.Nodes, timeline.Node{Region: i})
		d.NodeOf = append(d.NodeOf, int32(i+1))
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

func ran(tid uint32, node int32, from, to uint64) timeline.Span {
	return timeline.Span{TID: tid, Node: node, From: from, To: to, Exec: profile.Sum{T: int64(to - from), C: 1}}
}

// text lists the boxes of a row: depth, from-to, number of executions and sum if there are several,
// name.
func (p *Picture) text(row int) (out []string) {
	at, lane := int64(0), int64(-1)
	for b := range slices.Chunk(p.Rows[row].Boxes, 6) {
		if b[0] != lane {
			at, lane = 0, b[0]
		}
		at += b[1]
		s := fmt.Sprintf("%d %d-%d ", b[0], at, at+b[2])
		if b[4] != 1 {
			s += fmt.Sprintf("%dx%d ", b[4], b[5])
		}
		out = append(out, s+p.Names[b[3]].Text+"/"+p.Names[b[3]].Class)
	}
	return out
}

func TestPicture(t *testing.T) {
	region := ran(5, parallel, 1000, 1200)
	for i, ns := range []int64{10, 160, 25, 5} {
		region.Parts[i].T = ns
	}
	fold := timeline.Span{TID: 5, Node: critical, Kind: timeline.Fold, From: 1020, To: 1060, Exec: profile.Sum{T: 20, C: 7}}
	call := func(tid uint32, node int32, from, to uint64, peer int32) timeline.Span {
		s := ran(tid, node, from, to)
		s.Kind, s.Call = timeline.Call, timeline.MPI{Comm: 1, Flags: mpi.World, Peer: peer, Out: 8, In: 8}
		return s
	}
	p, err := Of([]*timeline.File{
		recorded(t, 0, fold, ran(5, user, 1030, 1050), ran(5, loop, 1010, 1100), region, call(5, send, 1210, 1220, 1)),
		recorded(t, 1, call(6, recv, 1100, 1300, 0)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.Length != 300 || p.Shortest != 0 || len(p.Rows) != 2 {
		t.Fatalf("%+v", p)
	}
	want := []string{"0 0-200 PARALLEL a.c (1)/work", "0 210-220 MPI_Send a.c (3)/mpi",
		"1 0-10 startup/mgmt", "1 10-100 LOOP a.c (2)/work", "1 170-195 implicit barrier/imbal", "1 195-200 shutdown/mgmt",
		"2 20-60 7x20 CRITICAL a.c (6) (unnamed)/work", "2 30-50 " + p.Names[slices.IndexFunc(p.Names, func(n Name) bool { return strings.Contains(n.Text, "dgemm_") })].Text + "/work"}
	if got := p.text(0); !slices.Equal(got, want) {
		t.Errorf("boxes %q\nwant %q", got, want)
	}
	if p.Rows[0].Label != "rank 0, thread 3" || p.Rows[0].Executions != 4+7 || p.Rows[0].Depth != 3 {
		t.Errorf("row %+v", p.Rows[0])
	}
	if len(p.Messages) != 1 || p.Messages[0] != (Message{From: 0, To: 1, Sent: 210, Received: 300}) {
		t.Errorf("messages %+v", p.Messages)
	}
	times := map[string]int64{}
	for _, l := range p.Levels {
		times[l.Name] = l.Time
	}
	// dgemm_ takes 20 of the parallel region's 200; the calls take 10 and 200.
	if times["OpenMP"] != 180 || times["blas"] != 20 || times["MPI"] != 210 {
		t.Errorf("levels %v", times)
	}
}

// However many executions there are, the picture is small, and nothing gets lost in it.
func TestManyExecutions(t *testing.T) {
	const n = 300_000
	rnd := rand.New(rand.NewPCG(1, 2))
	var spans []timeline.Span
	var executions, long uint64
	var sum int64
	at, begin := uint64(1000), uint64(1000)
	for i := range n {
		d := 1 + rnd.Uint64N(2000)
		if i%5000 == 0 {
			d = 4_000_000
			long++
		}
		spans = append(spans, ran(5, []int32{loop, user}[rnd.IntN(2)], at, at+d))
		sum += int64(d)
		executions++
		if at += d + rnd.Uint64N(300); i%100 == 99 {
			spans = append(spans, ran(5, parallel, begin, at))
			sum += int64(at - begin)
			executions++
			begin = at
		}
	}
	p, err := Of([]*timeline.File{recorded(t, 0, spans...)})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Rows[0]
	var got, singly uint64
	var gotSum int64
	for b := range slices.Chunk(r.Boxes, 6) {
		got += uint64(b[4])
		gotSum += b[5]
		if b[5] > b[2]+1 {
			t.Fatalf("%d executions took %d within %d", b[4], b[5], b[2])
		}
		if b[4] == 1 && b[2] >= 4_000_000 && b[0] == 1 {
			singly++
		}
	}
	if got != executions || gotSum != sum || r.Executions != executions || singly != long {
		t.Errorf("%d of %d executions, %d of %d ns, %d of %d long ones", got, executions, gotSum, sum, singly, long)
	}
	if len(r.Boxes)/6 > mostBoxes || len(r.Boxes)/6 < mostBoxes/8 || p.Shortest == 0 {
		t.Errorf("%d boxes, shortest %d", len(r.Boxes)/6, p.Shortest)
	}
	var levels int64
	for _, l := range p.Levels {
		inBins := int64(0)
		for _, v := range l.Bins {
			inBins += v
		}
		if inBins != l.Time {
			t.Errorf("%s: %d in bins, %d in all", l.Name, inBins, l.Time)
		}
		levels += l.Time
	}
	if levels != int64(at-1000) {
		t.Errorf("levels take %d of %d", levels, at-1000)
	}
	text, err := json.Marshal(p)
	if err != nil || len(text) > 3<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// What is drawn together says truly which name took most.
func TestMost(t *testing.T) {
	var l layer
	rnd := rand.New(rand.NewPCG(3, 4))
	sums := map[int]int64{}
	at := int64(0)
	for range 1000 {
		d, name := 1+rnd.Int64N(9), rnd.IntN(5)
		l.add(box{from: at, to: at + d, n: 1, sum: d, parts: []part{{name, d}}}, 0)
		sums[name] += d
		at += d
	}
	for limit := int64(16); limit < 1<<20; limit *= 2 {
		l.coarsen(limit)
	}
	if len(l) != 1 || l[0].n != 1000 || l[0].sum != at {
		t.Fatalf("%d boxes: %+v", len(l), l)
	}
	for name, sum := range sums {
		if sum > sums[l[0].most()] {
			t.Errorf("name %d took %d, and %d took %d", name, sum, l[0].most(), sums[l[0].most()])
		}
	}
}

func TestManyThreads(t *testing.T) {
	var spans []timeline.Span
	for i := range uint32(mostRows + 10) {
		spans = append(spans, ran(100+i, parallel, uint64(1000+i), uint64(5000+i)))
	}
	p, err := Of([]*timeline.File{recorded(t, 0, spans...)})
	if err != nil || len(p.Rows) != mostRows || p.LeftOut != 10 {
		t.Errorf("%d rows, %d left out, %v", len(p.Rows), p.LeftOut, err)
	}
}

func TestOtherMachine(t *testing.T) {
	one, another := &clocks.Record{Boot: "one"}, &clocks.Record{Boot: "another"}
	for _, c := range []struct {
		name   string
		host   string // of the second process; the first one's is ""
		clocks [2]*clocks.Record
		length int64
		notes  int
	}{
		{"another host, older recordings", "elsewhere", [2]*clocks.Record{}, 1000, 1},
		{"another host", "elsewhere", [2]*clocks.Record{one, another}, 1000, 1},
		{"another machine of the same name", "", [2]*clocks.Record{one, another}, 1000, 1},
		{"a container of this machine", "elsewhere", [2]*clocks.Record{one, one}, 1999, 0},
	} {
		a, b := recorded(t, 0, ran(5, parallel, 1000, 2000)), recorded(t, 1, ran(6, parallel, 1, 2))
		a.Dictionary.Meta.Clock, b.Dictionary.Meta.Clock, b.Dictionary.Meta.Host = c.clocks[0], c.clocks[1], c.host
		p, err := Of([]*timeline.File{a, b})
		if err != nil || len(p.Rows) != 2-c.notes || p.Length != c.length || len(p.Notes) != c.notes {
			t.Errorf("%s: %d rows, length %d, notes %q, %v", c.name, len(p.Rows), p.Length, p.Notes, err)
		}
	}
}
