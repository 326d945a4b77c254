package timeline

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// invented returns spans of some threads as an engine would tell them: children before parents,
// with all that a span can have.
func invented(rnd *rand.Rand, n, threads int) (out []Span) {
	clock := make([]uint64, threads)
	for len(out) < n {
		i := rnd.IntN(threads)
		begin := clock[i] + rnd.Uint64N(1000)
		at := begin
		for range rnd.IntN(4) {
			s := Span{TID: uint32(100 + i), Thread: int32(i), Node: int32(1 + rnd.IntN(3)), From: at, To: at + rnd.Uint64N(500)}
			s.Exec = profile.Sum{T: int64(s.To - s.From), C: 1}
			switch rnd.IntN(6) {
			case 0:
				s.Kind, s.Exec = Fold, profile.Sum{T: int64(rnd.IntN(100)), C: rnd.Uint64N(1000)}
			case 1:
				s.Kind = Call
				s.Call = MPI{Comm: rnd.Uint64N(3), Made: rnd.Uint64N(3), Rank: 3, Size: 4, Peer: int32(rnd.IntN(5)) - 2,
					Peer2: int32(rnd.IntN(2)), Tag: int32(rnd.IntN(3)), Flags: mpi.ArgFlag(rnd.IntN(3)), Out: rnd.Uint64N(1 << 40), In: rnd.Uint64N(9)}
			case 2:
				s.Parts = [NumParts]profile.Sum{{T: 5, C: 1}, {T: -3, C: 0}, {T: 0, C: 7}, {T: 8, C: 1}}
				s.Flags, s.Lock, s.Task = Open, rnd.Uint64(), rnd.Uint64N(100)
			case 3:
				s.Team = 1 + rnd.Uint64N(1000)
			}
			out = append(out, s)
			at = s.To + rnd.Uint64N(50)
		}
		out = append(out, Span{TID: uint32(100 + i), Thread: int32(i), Node: 4, From: begin, To: at + 1, Exec: profile.Sum{T: int64(at+1-begin) - 1, C: 1}})
		clock[i] = at + 2
	}
	return out
}

// dictionary names four nodes and some threads.
func dictionary(threads int) *Dictionary {
	d := &Dictionary{Regions: []profile.Region{{Construct: event.MPI, Name: "MPI_Send"}}, Nodes: []Node{{-1, -1}}}
	for i := range int32(4) {
		d.Nodes = append(d.Nodes, Node{0, 0})
		_ = i
	}
	d.NodeOf = []int32{0, 1, 2, 3, 4}
	for i := range int32(threads) {
		d.SeatOf = append(d.SeatOf, i)
		d.Threads = append(d.Threads, profile.Thread{Num: int(i)})
	}
	return d
}

func recorder(t testing.TB, o Options) *Recorder {
	t.Helper()
	r, err := NewRecorder(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(4) {
		r.Define(Definition{ID: i + 1, Construct: event.Parallel, Address: uint64(i)})
	}
	r.Seat(Seat{0, 0, 0})
	return r
}

func save(t testing.TB, r *Recorder) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// all returns all spans of a file, thread after thread.
func all(t testing.TB, f *File) (out []Span) {
	t.Helper()
	for _, tid := range f.TIDs() {
		for s, err := range f.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, *s)
		}
	}
	return out
}

// inOrder sorts spans as a reader gives them.
func inOrder(spans []Span) []Span {
	out := slices.Clone(spans)
	send, _ := mpi.ParseOp("MPI_Send")
	for i := range out {
		if out[i].Kind == Call {
			out[i].Call.Op = send
		}
	}
	slices.SortStableFunc(out, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	return out
}

func sameSpans(t *testing.T, got, want []Span) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d spans, want %d", len(got), len(want))
	}
	// Which of two with equal times comes first matters to nobody here.
	count := map[Span]int{}
	for i := range want {
		count[want[i]]++
		count[got[i]]--
		if got[i].TID != want[i].TID || got[i].From != want[i].From || got[i].To != want[i].To {
			t.Fatalf("span %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	for s, n := range count {
		if n != 0 {
			t.Fatalf("%+v occurs %d times too few", s, n)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 100, 100_000} {
		spans := invented(rand.New(rand.NewPCG(1, uint64(n))), n, 3)
		r := recorder(t, Options{Plan: Plan{Cap: 1 << 30}, PID: 4711, Tool: "v9", Wait: true})
		for i := range spans {
			r.Span(&spans[i])
		}
		r.End(dictionary(3))
		f := read(t, save(t, r))
		if f.Torn || len(f.Gaps) > 0 || f.PID != 4711 || f.Tool != "v9" {
			t.Errorf("read: torn %v, gaps %v, pid %d, tool %q", f.Torn, f.Gaps, f.PID, f.Tool)
		}
		got := all(t, f)
		slices.SortStableFunc(got, func(a, b Span) int { return cmp.Compare(a.TID, b.TID) })
		sameSpans(t, got, inOrder(spans))
	}
}

// TestNothingIsWithin: spans of nodes that became a part of another one, or of none, are left out.
func TestNothingIsWithin(t *testing.T) {
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30}, Wait: true})
	for node := range int32(4) {
		r.Span(&Span{Node: node + 1, From: 1, To: 2, Thread: 7})
	}
	d := dictionary(1)
	d.Within, d.NodeOf = []int32{2}, []int32{0, 3, 2, -1, 1}
	d.SeatOf = []int32{0, 0, 0, 0, 0, 0, 0, 0}
	d.Moved = []Moved{{4, 7, 99}}
	r.End(d)
	got := all(t, read(t, save(t, r)))
	if len(got) != 2 || got[0].Node+got[1].Node != 4 || got[0].Thread+got[1].Thread != -1 {
		t.Errorf("read %+v", got)
	}
}

// TestRing: whatever comes, what is kept stays below the cap, and what is dropped is counted.
func TestRing(t *testing.T) {
	const most = leastCap
	for name, threads := range map[string]int{"one thread": 1, "many threads": 3000} {
		t.Run(name, func(t *testing.T) {
			r := recorder(t, Options{Plan: Plan{Cap: most}, Wait: true})
			rnd := rand.New(rand.NewPCG(1, 2))
			fed, now := uint64(0), uint64(0)
			for range 40 {
				for range 20_000 {
					now += rnd.Uint64N(1 << 40) // hardly to be compressed
					r.Span(&Span{TID: rnd.Uint32N(uint32(threads)), Node: 1, From: now, To: now + rnd.Uint64N(1<<40), Lock: rnd.Uint64()})
					fed++
				}
				r.packer.mu.Lock()
				held := r.packer.shelf.bytes + int64(r.open) + int64(len(r.packer.queue))*chunkSize
				r.packer.mu.Unlock()
				if held > most {
					t.Fatalf("%d bytes are held, the cap is %d", held, most)
				}
			}
			r.End(dictionary(1))
			f := read(t, save(t, r))
			kept, _ := f.Spans()
			dropped := uint64(0)
			for _, g := range f.Gaps {
				dropped += g.Spans
				if g.Why != ByCap || g.From > g.To {
					t.Errorf("gap %+v", g)
				}
			}
			if kept == 0 || dropped == 0 || kept+dropped != fed {
				t.Errorf("%d kept and %d dropped of %d", kept, dropped, fed)
			}
			if n := uint64(len(all(t, f))); n != kept {
				t.Errorf("%d spans are read, %d are there", n, kept)
			}
		})
	}
}

// TestAge: spans that are older than a ring's age are dropped.
func TestAge(t *testing.T) {
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30, Last: time.Second}, Wait: true})
	const step = 10_000 // ns
	for i := range uint64(500_000) {
		r.Span(&Span{Node: 1, From: i * step, To: (i + 1) * step})
	}
	r.End(dictionary(1))
	f := read(t, save(t, r))
	if len(f.Gaps) != 1 || f.Gaps[0].Why != ByAge || f.Gaps[0].From != 0 {
		t.Fatalf("gaps %+v", f.Gaps)
	}
	n, _ := f.Spans()
	if least := uint64(time.Second / step); n < least || n > 2*least || f.Gaps[0].Spans+n != 500_000 || f.Gaps[0].To > f.First() {
		t.Errorf("%d spans are kept from %d on, gap %+v", n, f.First(), f.Gaps[0])
	}
}

// TestAgeOfThreads: of threads that lived for a moment, a ring has those within its age. A thread
// that goes on does not keep the others, wherever its lane is met.
func TestAgeOfThreads(t *testing.T) {
	const threads, step, age = 2000, uint64(time.Millisecond), 20
	for range 10 {
		r := recorder(t, Options{Plan: Plan{Cap: 1 << 30, Last: age * time.Millisecond}, Wait: true})
		for i := range uint64(threads) {
			r.Span(&Span{TID: uint32(i + 2), Node: 1, From: i * step, To: (i + 1) * step})
		}
		r.Span(&Span{TID: 1, Node: 1, From: threads * step, To: (threads + 1) * step})
		r.End(dictionary(1))
		f := read(t, save(t, r))
		if n, _ := f.Spans(); n != age+1 || len(f.Gaps) != 1 || f.Gaps[0].Spans != threads+1-n {
			t.Fatalf("%d spans are kept, gaps %+v", n, f.Gaps)
		}
	}
}

func TestWindow(t *testing.T) {
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30, From: 100, To: 200}, Began: 1000, Wait: true})
	for i := range uint64(50) {
		r.Span(&Span{Node: 1, From: 1000 + 10*i, To: 1000 + 10*i + 9})
	}
	r.End(dictionary(1))
	f := read(t, save(t, r))
	if n, _ := f.Spans(); n != 11 || f.First() != 1100 || f.Last() != 1209 || len(f.Gaps) != 2 || f.Gaps[0].Spans != 10 || f.Gaps[1].Spans != 29 {
		t.Errorf("%d spans from %d to %d, gaps %+v", n, f.First(), f.Last(), f.Gaps)
	}
}

// limited is a disk of some bytes.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		n, _ := l.Buffer.Write(b[:l.left])
		l.left = 0
		return n, errors.New("no space left on device")
	}
	l.left -= len(b)
	return l.Buffer.Write(b)
}

func (l *limited) Close() error { return nil }

// streamed records spans to a file as they come.
func streamed(t *testing.T, to io.WriteCloser, most int64, n int, say func(string)) ([]Span, *Recorder) {
	t.Helper()
	r := recorder(t, Options{Plan: Plan{Cap: most, Stream: true}, Wait: true, Say: say, Open: func() (io.WriteCloser, error) { return to, nil }})
	spans := invented(rand.New(rand.NewPCG(5, 6)), n, 2)
	for i := range spans {
		r.Span(&spans[i])
	}
	r.End(dictionary(2))
	return spans, r
}

// TestTorn: a file whose end is missing is read up to there, without names of places.
func TestTorn(t *testing.T) {
	disk := &limited{left: 1 << 30}
	spans, r := streamed(t, disk, 1<<30, 50_000, nil)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	whole := disk.Bytes()
	want := map[Span]bool{}
	for _, s := range spans {
		s.Call.Op = 0
		want[s] = true
	}
	least := 0
	for n := len(mark) + 1; n < len(whole); n += 1 + len(whole)/40 {
		f := read(t, whole[:n])
		if !f.Torn || !f.Dictionary.Unresolved {
			t.Fatalf("%d of %d bytes: torn %v, unresolved %v", n, len(whole), f.Torn, f.Dictionary.Unresolved)
		}
		got := all(t, f)
		for _, s := range got {
			s.Thread = int32(s.TID - 100) // the second thread's seat was not told
			if s.Call.Op = 0; !want[s] {
				t.Fatalf("%d bytes: nobody recorded %+v", n, s)
			}
		}
		if len(got) < least {
			t.Fatalf("%d bytes: %d spans, fewer bytes had %d", n, len(got), least)
		}
		least = len(got)
	}
	if least < 40_000 {
		t.Errorf("at most %d of %d spans were read", least, len(spans))
	}
}

// TestDiskFull: what is in the file stays readable, the rest is counted, and one sentence is said.
func TestDiskFull(t *testing.T) {
	said := []string{}
	disk := &limited{left: 200_000}
	spans, r := streamed(t, disk, 1<<30, 100_000, func(s string) { said = append(said, s) })
	if err := r.Finish(); err != nil {
		t.Error(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "no space left") || r.Lacks() == nil {
		t.Errorf("said %q", said)
	}
	n, _ := read(t, disk.Bytes()).Spans()
	missing := uint64(0)
	for _, g := range r.Gaps() {
		if g.Why == ByDisk {
			missing += g.Spans
		}
	}
	if n == 0 || n+missing != uint64(len(spans)) {
		t.Errorf("%d spans can be read, %d are missing, of %d", n, missing, len(spans))
	}
}

// room is a file that can be so long at most.
type room struct {
	data []byte
	at   int64
	most int
	ends []int // of what was written
}

func (r *room) Write(b []byte) (int, error) {
	n := min(len(b), r.most-int(r.at))
	r.data = append(r.data[:r.at], b[:n]...)
	if r.at += int64(n); n < len(b) {
		return n, errors.New("file too large")
	}
	r.ends = append(r.ends, int(r.at))
	return n, nil
}

func (r *room) Truncate(size int64) error { r.data = r.data[:size]; return nil }
func (r *room) Close() error              { return nil }

func (r *room) Seek(offset int64, whence int) (int64, error) {
	r.at = offset
	return offset, nil
}

// TestRoomForTheEnd: wherever a file can grow no further, its end is there,
// and tells what is missing.
func TestRoomForTheEnd(t *testing.T) {
	whole := &room{most: 1 << 30}
	_, r := streamed(t, whole, 1<<30, 100_000, nil)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	n := len(whole.ends)
	for _, end := range whole.ends[n/4 : n/2] {
		most := end + 50 // there is no room behind a whole chunk
		file, said := &room{most: most}, 0
		spans, r := streamed(t, file, 1<<30, 100_000, func(string) { said++ })
		err := r.Finish()
		f := read(t, file.data)
		n, _ := f.Spans()
		for _, g := range f.Gaps {
			n += g.Spans
		}
		if f.Torn || len(f.Gaps) == 0 || n != uint64(len(spans)) {
			t.Errorf("%d bytes: torn %v, %d gaps, %d of %d spans are accounted for", most, f.Torn, len(f.Gaps), n, len(spans))
		}
		if r.Lacks() == nil || said != 1 || err != nil {
			t.Errorf("%d bytes: said %d times, %v", most, said, err)
		}
	}
}

// TestFileCap: a plan that streams goes on as a ring at its cap.
func TestFileCap(t *testing.T) {
	if testing.Short() {
		t.Skip("records a million spans")
	}
	disk := &limited{left: 1 << 30}
	const most = leastCap
	spans, r := streamed(t, disk, most, 1_000_000, nil)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	f := read(t, disk.Bytes())
	n, _ := f.Spans()
	if r.Lacks() != nil || f.Torn || len(f.Gaps) != 1 || f.Gaps[0].Why != ByCap || n+f.Gaps[0].Spans != uint64(len(spans)) || disk.Len() > most+1<<16 {
		t.Errorf("%d bytes, %d of %d spans, torn %v, gaps %+v", disk.Len(), n, len(spans), f.Torn, f.Gaps)
	}
	last := uint64(0)
	for i := range spans {
		last = max(last, spans[i].To)
	}
	if f.Last() != last {
		t.Errorf("the last span ends at %d, not at %d", f.Last(), last)
	}
}

// TestBranch: a copy holds what there was, and what it is told itself.
func TestBranch(t *testing.T) {
	spans := invented(rand.New(rand.NewPCG(7, 8)), 50_000, 2)
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30}, Wait: true})
	half := len(spans) / 2
	for i := range spans[:half] {
		r.Span(&spans[i])
	}
	b, err := r.Branch()
	if err != nil {
		t.Fatal(err)
	}
	for i := range spans[half:] {
		r.Span(&spans[half+i])
	}
	extra := Span{TID: 100, Node: 4, From: 3, To: 1 << 40, Flags: Open}
	b.Span(&extra)
	b.End(dictionary(2))
	r.End(dictionary(2))
	sameSpans(t, sorted(all(t, read(t, save(t, b)))), inOrder(append(slices.Clone(spans[:half]), extra)))
	sameSpans(t, sorted(all(t, read(t, save(t, r)))), inOrder(spans))
}

func sorted(spans []Span) []Span { return inOrder(spans) }

// TestFileOnDisk: a real file is what the reader takes.
func TestFileOnDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.timeline")
	to, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	spans, r := streamed(t, to, 1<<30, 200_000, nil)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := read(t, b)
	if n, size := f.Spans(); n != uint64(len(spans)) || f.Torn {
		t.Errorf("%d of %d spans in %d bytes, torn %v", n, len(spans), size, f.Torn)
	}
}
