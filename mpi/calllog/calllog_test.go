package calllog

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// random returns a random call that begins at a time.
func random(r *rand.Rand, start uint64) match.Call {
	c := match.Call{Op: mpi.Op(r.IntN(len(mpi.Operations))), Start: start, End: start + r.Uint64N(1<<r.IntN(40)),
		Sends: r.IntN(2) == 0, Receives: r.IntN(2) == 0, Unknown: r.IntN(2) == 0, Later: r.IntN(2) == 0, Untold: r.IntN(2) == 0}
	if match.IsMessage(c.Op) || match.IsCollective(c.Op) || match.IsEpoch(c.Op) || match.IsLock(c.Op) {
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
	for at := range c.Completes {
		if r.IntN(4) == 0 {
			c.Came = append(c.Came, match.Came{At: at, From: int32(r.Uint32()), Tag: int32(r.Uint32())})
		}
	}
	return c
}

// TestRoundTrip: a reader returns the calls that were recorded.
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
			if len(g.Came) == 0 {
				g.Came = nil
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

// TestStops: a reader returns times of CLOCK_MONOTONIC.
func TestStops(t *testing.T) {
	l := Log{Stops: event.Stops{{From: 100, To: 150}, {From: 200, To: 210}}}
	for in, want := range map[uint64]uint64{99: 99, 101: 151, 149: 199, 151: 211} {
		if got := l.Monotonic(in); got != want {
			t.Errorf("%d: %d, not %d", in, got, want)
		}
	}
}

// FuzzReader: whatever the data are, a reader neither crashes nor reads without end.
func FuzzReader(f *testing.F) {
	rec := NewRecorder()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(20) {
		c := random(r, i*1000)
		rec.Add(1, Site{int(i % 3), 0}, &c)
	}
	if len(rec.Came) == 0 {
		f.Fatal("no request received a message")
	}
	f.Add(rec.Threads[0], rec.Came[0])
	f.Add(rec.Threads[0], []byte{0, 1, 200})
	f.Fuzz(func(t *testing.T, b, came []byte) {
		l := Log{Ops: rec.Ops, Sites: rec.Sites, Threads: [][]byte{b}, Came: [][]byte{came}}
		rd := l.Reader(0)
		for n := 0; ; n++ {
			c, ok := rd.Next()
			if !ok {
				break
			}
			if n > len(b) || c.End < c.Start {
				t.Fatalf("%d calls of %d bytes, the last one %+v", n, len(b), c)
			}
			for _, m := range c.Came {
				if m.At < 0 || m.At >= len(c.Completes) {
					t.Fatalf("%+v", c)
				}
			}
		}
	})
}

// TestCameDamaged: without Came, a log is read as if receives from any source had not told their
// messages. Came is damaged if it names a request that the call does not complete.
func TestCameDamaged(t *testing.T) {
	wait, _ := mpi.ParseOp("MPI_Waitall")
	rec := NewRecorder()
	for i := range uint64(3) {
		rec.Add(1, Site{}, &match.Call{Op: wait, Start: 10 * i, End: 10*i + 5, Completes: []uint64{7, 8}})
	}
	rec.Add(1, Site{}, &match.Call{Op: wait, Start: 50, End: 55, Completes: []uint64{7, 8}, Came: []match.Came{{At: 1, From: 2, Tag: 3}}})
	for name, c := range map[string]struct {
		came  [][]byte
		calls int
		told  int
		bad   bool
	}{
		"whole":       {rec.Came, 4, 1, false},
		"older":       {nil, 4, 0, false},
		"no request":  {[][]byte{{0, 1, 2, 0, 0}}, 0, 0, true},
		"cut off":     {[][]byte{rec.Came[0][:3]}, 3, 0, true},
		"in the past": {[][]byte{{1, 1, 0, 4, 6}}, 4, 1, false},
	} {
		l := rec.Log
		l.Came = c.came
		rd, calls, told := l.Reader(0), 0, 0
		for x, ok := rd.Next(); ok; x, ok = rd.Next() {
			calls, told = calls+1, told+len(x.Came)
		}
		if calls != c.calls || told != c.told || c.bad != errors.Is(rd.Err(), ErrDamaged) {
			t.Errorf("%s: %d calls, %d told, %v", name, calls, told, rd.Err())
		}
	}
}

// TestFailed: a log ends at a call that returned an error.
func TestFailed(t *testing.T) {
	r := NewRecorder()
	for at := range uint64(3) {
		r.Add(7, Site{}, &match.Call{Start: 10 * at, End: 10*at + 5, Failed: at > 0})
	}
	if r.Until != 10 || r.Calls != 3 || r.Lost {
		t.Errorf("ends at %d with %d calls, lost %t", r.Until, r.Calls, r.Lost)
	}
}
