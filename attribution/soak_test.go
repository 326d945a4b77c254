package attribution

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/synthetic"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// An hour of a program's life, in seconds of ours: what the engine holds, and how
// large the recorded profile is.

const (
	minute  = 60_000_000_000 // ns
	codeAt  = 0x10000
	hotCode = 320 // bytes of each of them
)

// source places constructs and code in files with names of usual lengths.
type source struct{ nowhere }

func (source) Region(k Key) profile.Region {
	at := k.Fn + k.Site
	return profile.Region{Construct: k.Construct, Name: mpiName(k), Location: profile.Location{File: "/home/user/project/src/solver/conjugate_gradient.c",
		Begin: int(at % 1000), End: int(at%1000) + 7, Function: "solve_tridiagonal_system", Object: "/home/user/project/bin/solver", Offset: at}}
}

func mpiName(k Key) string {
	if k.Construct == event.MPI {
		return mpi.Op(k.Fn).String()
	}
	return ""
}

// Code: eight bytes make a line, forty lines a function.
func (source) Around(uint64) (profile.Region, bool) { return profile.Region{}, false }

func (source) Code(addr uint64) []profile.Frame {
	line := int(addr / 8)
	return []profile.Frame{{Function: fmt.Sprintf("solver::kernel_%d<double>", line/40), File: "/home/user/project/src/solver/kernels.cpp", Line: line}}
}

// hour plays one, with a period every so often, MPI calls and samples.
type hour struct {
	*machinePlayer
	rnd    *rand.Rand
	every  uint64 // ns
	send   mpi.Op
	sample event.Sample
	paths  float64 // ways to call the functions that take the time, each another one
}

func newHour(m synthetic.Machine, every uint64) *hour {
	h := &hour{machinePlayer: newMachinePlayer(m), rnd: rand.New(rand.NewPCG(1, 2)), every: every, paths: 40}
	h.engine = New(synthetic.Process, source{})
	h.send, _ = mpi.ParseOp("MPI_Sendrecv")
	return h
}

// next plays a period; the threads that it names are sampled.
func (h *hour) next(threads ...int) {
	begin := h.begin
	h.play()
	call := event.Event{Time: h.begin, PID: synthetic.Process, TID: synthetic.Process, Construct: event.MPI, Edge: event.Released,
		Site: 0x4400, MPI: &event.MPICall{Op: h.send, Start: h.begin - 1000, Args: mpi.Args{Send: 1 << 16, Recv: 1 << 16, Size: 64}}}
	h.engine.Feed(&call)
	h.calls++
	h.take(threads...)
	h.begin = max(h.begin+2000, begin+h.every)
}

// take samples threads.
func (h *hour) take(threads ...int) {
	for _, t := range threads {
		h.sample.Stack, h.sample.Weight = h.stack(h.sample.Stack[:0]), 5e6
		h.engine.Feed(&event.Event{Time: h.begin + 1000, PID: synthetic.Process, TID: uint32(synthetic.Process + t), Edge: event.Sampled, Sample: &h.sample})
	}
}

// stack makes up one: few functions take the time, and few of their lines most of
// it.
func (h *hour) stack(s []uint64) []uint64 {
	path := uint64(math.Mod(h.rnd.ExpFloat64()*h.paths/4, h.paths))
	s = append(s, codeAt+path*hotCode+uint64(h.rnd.ExpFloat64()*hotCode/4)/4*4%hotCode)
	for depth := range 3 + path%8 {
		s = append(s, codeAt*2+path/(depth+1)*0x40+depth*0x1000)
	}
	return s
}

// What the engine holds does not grow with time, though threads of nested teams
// are made anew again and again.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("replays an hour")
	}
	const threads = 16
	h := newHour(synthetic.Machine{Threads: threads, Rings: 2, Step: 1000}, 60e6)
	h.paths = 2 // all have been seen after some minutes
	began := h.begin
	var held []uint64 // by minute
	for n := 0; h.begin < began+60*minute; n++ {
		h.next(n%threads, (n+5)%threads)
		if uint64(len(held)) < (h.begin-began)/minute {
			held = append(held, heap())
		}
	}
	early, late := slices.Max(held[5:15]), slices.Max(held[len(held)-10:])
	t.Logf("%d events; KiB held by minute: %v", h.engine.in.events, kib(held))
	if late > early+early/10 {
		t.Errorf("%d KiB were held in the last ten minutes, %d in the sixth to fifteenth", late>>10, early>>10)
	}
	h.check(t)
}

func kib(bytes []uint64) (out []uint64) {
	for _, b := range bytes {
		out = append(out, b>>10)
	}
	return out
}

// heap is what the program holds.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The recorded profile grows with regions and threads, and with the places that
// were sampled, not with time: an hour's is less than a megabyte.
func TestRecordIsSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("replays an hour")
	}
	const limit = 1 << 20
	const threads = 64 // of fewer, less is recorded
	h := newHour(synthetic.Machine{Threads: threads, Rings: 2, Step: 1000}, 1e9)
	all := make([]int, threads)
	for i := range all {
		all[i] = i
	}
	taken := 0
	for end := h.begin + 60*minute; h.begin < end; {
		h.next(all...)
		for range 19 { // more would find what those have found
			h.take(all...)
		}
		taken += 20 * threads
	}
	var file bytes.Buffer
	p := h.engine.Finish(h.begin)
	if err := profile.Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events, %d samples at %d places: %d bytes", h.engine.in.events, taken, len(p.Samples), file.Len())
	if file.Len() > limit {
		t.Errorf("%d bytes, more than %d", file.Len(), limit)
	}
}
