package system

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/mpi"
)

func op(t *testing.T, name string) mpi.Op {
	t.Helper()
	o, ok := mpi.ParseOp(name)
	if !ok {
		t.Fatalf("no operation %s", name)
	}
	return o
}

func figure(median, err float64) Figure {
	return Figure{N: 10, Median: median, Error: err, Mean: median, Min: median, Stopped: Precise}
}

// sample is a profile with known points for 4 CPUs. Barriers take 100 t ns. Messages take 1000 ns +
// 0.5 ns per byte within a socket, and twice as long between nodes. Broadcasts take log2(p)
// messages.
func sample(t *testing.T) *Profile {
	p := &Profile{Format: Format, Version: Version, Machine: Machine{CPUs: 4, Affinity: 4}}
	for _, n := range []int{1, 2, 4} {
		p.OpenMP = append(p.OpenMP,
			OpenMP{Construct: event.Barrier, Threads: n, Cost: figure(100*float64(n), 1)},
			OpenMP{Construct: event.Loop, Variant: "static", Threads: n, Cost: figure(50*float64(n), 1)},
			OpenMP{Construct: event.Loop, Variant: "dynamic", Threads: n, Cost: figure(70*float64(n), 1)})
	}
	p.OpenMP = append(p.OpenMP, OpenMP{Construct: event.Barrier, Threads: 8, Oversubscribed: true, Cost: figure(1e6, 1e5)})
	for _, b := range []uint64{1, 1001, 2001} {
		ns := 1000 + 0.5*float64(b)
		p.MPI = append(p.MPI,
			MPI{Operation: op(t, "MPI_Send"), Bytes: b, Processes: 2, Where: Socket, Cost: figure(ns, 3)},
			MPI{Operation: op(t, "MPI_Send"), Bytes: b, Processes: 2, Where: Nodes, Cost: figure(2*ns, 3)},
			MPI{Operation: op(t, "MPI_Bcast"), Bytes: b, Processes: 2, Where: Socket, Cost: figure(ns, 3)},
			MPI{Operation: op(t, "MPI_Bcast"), Bytes: b, Processes: 8, Where: Nodes, Oversubscribed: true, Cost: figure(3*ns, 3)})
	}
	return p
}

func TestConstruct(t *testing.T) {
	p := sample(t)
	for _, c := range []struct {
		construct event.Construct
		variant   string
		threads   int
		want      Estimate
	}{
		{event.Barrier, "", 2, Estimate{Value: 200, Error: 1, Basis: Measured}},
		{event.Barrier, "", 3, Estimate{Value: 300, Error: math.Hypot(0.5, 0.5), Basis: Interpolated}},
		{event.Barrier, "", 8, Estimate{Value: 1e6, Error: 1e5, Basis: Measured, Oversubscribed: true}},
		{event.Loop, "", 4, Estimate{Value: 200, Error: 1, Basis: Measured}}, // the first variant
		{event.Loop, "dynamic", 4, Estimate{Value: 280, Error: 1, Basis: Measured}},
		{event.Loop, "static", 8, Estimate{Value: 400, Basis: Extrapolated}},
		{event.Scope, "", 2, Estimate{Value: 200, Error: 1, Basis: Measured, From: "BARRIER"}},
	} {
		got, ok := p.Construct(c.construct, c.variant, c.threads)
		if !ok {
			t.Errorf("%s %s: not found", c.construct, c.variant)
		}
		if c.want.Basis == Extrapolated { // the weights of a line beyond its points
			c.want.Error = got.Error
			if got.Error < 200 {
				t.Errorf("%s: error %g is less than the distance from the last point", c.construct, got.Error)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s %q with %d threads: %s", c.construct, c.variant, c.threads, d)
		}
	}
	if _, ok := p.Construct(event.Critical, "", 2); ok {
		t.Error("CRITICAL was not measured, and nothing is like it")
	}
	if _, ok := p.Construct(event.Loop, "guided", 2); ok {
		t.Error("there is no guided loop")
	}
}

func TestMessage(t *testing.T) {
	p := sample(t)
	for _, c := range []struct {
		op        string
		bytes     uint64
		processes int
		where     Where
		want      Estimate
	}{
		{"MPI_Send", 1001, 4, Socket, Estimate{Value: 1500.5, Error: 3, Basis: Measured}},
		{"MPI_Send", 1001, 4, "", Estimate{Value: 3001, Error: 3, Basis: Measured}},
		{"MPI_Irecv", 501, 2, Socket, Estimate{Value: 1250.5, Error: math.Hypot(1.5, 1.5), Basis: Interpolated, From: "MPI_Send"}},
		// latency
		{"MPI_Send", 0, 2, Socket, Estimate{Value: 1000.5, Error: 3, Basis: Interpolated}},
		{"MPI_Send", 1, 2, Node, Estimate{Value: 2001, Error: 3, Basis: Measured, From: "nodes"}},
		{"MPI_Ibcast", 1001, 8, Socket, Estimate{Value: 4501.5, Error: 3, Basis: Measured, Oversubscribed: true, From: "MPI_Bcast"}},
		// Not from oversubscribed points.
		{"MPI_Bcast", 1001, 4, Socket, Estimate{Value: 1500.5, Error: 3, Basis: Extrapolated}},
	} {
		got, ok := p.Message(op(t, c.op), c.bytes, c.processes, c.where)
		if !ok {
			t.Errorf("%s: not found", c.op)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s of %d bytes on %d processes, %s: %s", c.op, c.bytes, c.processes, c.where, d)
		}
	}
	long, _ := p.Message(op(t, "MPI_Send"), 1<<20, 2, Socket)
	if want := 1000 + 0.5*(1<<20); math.Abs(long.Value-want) > 1 || long.Basis != Extrapolated {
		t.Errorf("1 MiB: %+v, want %g by the bandwidth", long, want)
	}
	if _, ok := p.Message(op(t, "MPI_Alltoall"), 1, 2, ""); ok {
		t.Error("MPI_Alltoall was not measured")
	}
}

func TestReadRefuses(t *testing.T) {
	var whole bytes.Buffer
	if err := sample(t).Write(&whole); err != nil {
		t.Fatal(err)
	}
	text := whole.String()
	if p, err := Read(strings.NewReader(text)); err != nil || cmp.Diff(sample(t), p) != "" {
		t.Fatalf("what was written is not what is read: %v %s", err, cmp.Diff(sample(t), p))
	}
	for _, c := range []struct{ old, new, want string }{
		{`"version": 1`, `"version": 2`, "version 2, this ompp-attach reads version 1"},
		{Format, "ompp-attach profile", "no system profile"},
		{`"threads": 4`, `"threads": -4`, "damaged: BARRIER with -4 threads"},
		{`"BARRIER"`, `"BARIER"`, "damaged: unknown construct"},
		{text, "PK", "no system profile"},
	} {
		_, err := Read(strings.NewReader(strings.Replace(text, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: error %v, want %q", c.new, c.old, err, c.want)
		}
	}
}
