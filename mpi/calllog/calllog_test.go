package calllog

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// random returns a random call that begins at a time.
func random(r *rand.Rand, start uint64) match.Call {
	c := match.Call{Op: mpi.Op(r.IntN(len(mpi.Operations))), Start: start, End: start + r.Uint64N(1<<r.IntN(40)),
		Sends: r.IntN(2) == 0, Receives: r.IntN(2) == 0, Unknown: r.IntN(2) == 0, Later: r.IntN(2) == 0, Untold: r.IntN(2) == 0}
	if match.IsMessage(c.Op) || match.IsCollective(c.Op) || match.IsEpoch(c.Op) {
		c.Comm, c.To = r.IntN(100)-1, int32(r.Uint32())
	}
	if match.IsMessage(c.Op) {
		c.From, c.SendTag, c.RecvTag = int32(r.Uint32()), int32(r.Uint32()), int32(r.Uint32())
	}
	if c.Later {
		c.Request = r.Uint64()
	}
	for range r.IntN(4) {
		c.Completes = append(c.Completes, r.Uint64())
	}
	return c
}

// TestRoundTrip: what was recorded is read.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rec := NewRecorder()
	want := map[int][]match.Call{}
	now := uint64(1e15)
	sites := []Site{}
	for range 3000 {
		now += r.Uint64N(1 << r.IntN(30))
		c := random(r, now)
		thread := r.IntN(3)
		at := Site{r.IntN(5), r.IntN(2)}
		rec.Add(uint32(100+thread), at, &c)
		index := rec.threads[uint32(100+thread)]
		c.Thread, c.Site = index, rec.sites[at]
		want[index] = append(want[index], c)
		sites = append(sites, at)
	}
	text, err := json.Marshal(&rec.Log)
	if err != nil {
		t.Fatal(err)
	}
	var l Log
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	for i := range l.Threads {
		rd := l.Reader(i)
		for _, w := range want[i] {
			got, ok := rd.Next()
			if !ok {
				t.Fatal(rd.Err())
			}
			g := *got
			if len(g.Completes) == 0 {
				g.Completes = nil
			}
			if !reflect.DeepEqual(g, w) {
				t.Fatalf("got  %+v\nwant %+v", g, w)
			}
		}
		if _, more := rd.Next(); more || rd.Err() != nil {
			t.Fatal("too many calls", rd.Err())
		}
	}
	if l.Calls != 3000 || len(l.Sites) > len(sites) || l.Until != 0 {
		t.Errorf("%d calls, until %d", l.Calls, l.Until)
	}
}

// TestBounded: a full recorder leaves out calls, and says from when on.
func TestBounded(t *testing.T) {
	rec := NewRecorder()
	op, _ := mpi.ParseOp("MPI_Send")
	now := uint64(1e15)
	first, n := uint64(0), 0
	for ; rec.Left < 10; n++ {
		if now += 1000; rec.bytes >= MostBytes && first == 0 {
			first = now
		}
		rec.Add(1, Site{1, 0}, &match.Call{Op: op, Start: now, End: now + 500, To: 1, SendTag: 7, From: mpi.NoPeer, Sends: true})
	}
	if rec.Until != first || rec.Calls+rec.Left != uint64(n) || rec.bytes > MostBytes+64 {
		t.Errorf("until %d, not %d; %d and %d of %d calls, %d bytes", rec.Until, first, rec.Calls, rec.Left, n, rec.bytes)
	}
	if each := float64(rec.bytes) / float64(rec.Calls); each > 14 {
		t.Errorf("%.1f bytes a call", each)
	}
	rec.Lose(first - 5)
	rec.Lose(first + 5)
	if rec.Until != first-5 || !rec.Lost {
		t.Errorf("until %d after a loss at %d", rec.Until, first-5)
	}
}

// TestStops: times are those of CLOCK_MONOTONIC.
func TestStops(t *testing.T) {
	l := Log{Stops: []Stop{{100, 150}, {200, 210}}}
	for in, want := range map[uint64]uint64{99: 99, 101: 151, 149: 199, 151: 211} {
		if got := l.Monotonic(in); got != want {
			t.Errorf("%d: %d, not %d", in, got, want)
		}
	}
}

// FuzzReader: no data makes a reader fail, or read without end.
func FuzzReader(f *testing.F) {
	rec := NewRecorder()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(20) {
		c := random(r, i*1000)
		rec.Add(1, Site{int(i % 3), 0}, &c)
	}
	f.Add(rec.Threads[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		l := Log{Ops: rec.Ops, Sites: rec.Sites, Threads: [][]byte{b}}
		rd := l.Reader(0)
		for n := 0; ; n++ {
			c, ok := rd.Next()
			if !ok {
				break
			}
			if n > len(b) || c.End < c.Start {
				t.Fatalf("%d calls of %d bytes, the last one %+v", n, len(b), c)
			}
		}
	})
}
