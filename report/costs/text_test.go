package costs

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/system"
)

var update = flag.Bool("update", false, "write golden files anew")

func figure(median, err float64, stopped system.Stop) system.Figure {
	return system.Figure{N: 20, Median: median, Error: err, Mean: median, Min: median, Stopped: stopped}
}

// sample has one of each.
func sample(t *testing.T) *system.Profile {
	op := func(name string) mpi.Op {
		o, ok := mpi.ParseOp(name)
		if !ok {
			t.Fatalf("no operation %s", name)
		}
		return o
	}
	p := &system.Profile{
		Format: system.Format, Version: system.Version, Taken: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Others: 0.5, Interrupted: true,
		Method:  system.Method{Error: 0.03, Samples: 10000, Seconds: 0.5},
		LeftOut: []system.LeftOut{{Part: "hybrid", Reason: "there is no command mpicc."}},
		Machine: system.Machine{
			Host: "node7", Architecture: "x86_64", Model: "Some CPU", Virtual: "QEMU", CPUs: 4, Affinity: 3, AffinityList: "0-2", Quota: 2.5,
			Sockets: 2, Cores: 4, ThreadsPerCore: 1, BaseMHz: 2000, NowMHz: 3000, Governor: "performance", MemoryBytes: 3 << 30, PageBytes: 4096, HugePages: "always",
			Caches: []system.Cache{{Level: 1, Type: "Data", Bytes: 32 << 10, Line: 64, SharedBy: 1, Count: 4}, {Level: 3, Type: "Unified", Bytes: 3 << 19, Line: 64, SharedBy: 2, Count: 2}},
			NUMA:   []system.NUMA{{Node: 0, CPUs: "0-1", MemoryBytes: 1 << 30, Distances: []int{10, 21}}, {Node: 1, CPUs: "2-3", MemoryBytes: 2 << 30, Distances: []int{21, 10}}},
		},
		Software: system.Software{
			Kernel: "6.1.0", OS: "Some Linux", Compiler: &system.Tool{Command: "gcc", Version: "gcc 12"}, CompilerOptions: []string{"-O2", "-fopenmp"},
			OpenMPRuntime: &system.Library{Name: "libgomp", Version: "5.1", Path: "/lib/libgomp.so.1"}, MPILibrary: &system.Library{Name: "Open MPI", Version: "4.1.4"},
			Launcher: "mpirun -n {p}", Environment: []system.Setting{{Name: "OMP_PROC_BIND", Value: "true"}},
		},
		OpenMP: []system.OpenMP{
			{Construct: event.Barrier, Threads: 1, Cost: figure(123.4, 1.2, system.Precise)},
			{Construct: event.Barrier, Threads: 4, Cost: figure(123456, 23456, system.Bound), Oversubscribed: true},
			{Construct: event.Critical, Variant: "contended", Threads: 1, Cost: figure(-0.1, 0.2, system.Bound), Shared: true},
		},
		Eager:   []system.Eager{{Where: system.Socket, Bytes: 4096, Waits: 4097}, {Where: system.Node, Bytes: 1 << 24}},
		Hybrid:  []system.Hybrid{{Threads: 2, Communicating: 1, Bytes: 8, Where: system.Node, Nodes: 1, Cost: figure(1500, 10, system.Precise)}},
		Compute: []system.Rate{{Kernel: "triad-memory", Unit: "byte/s", Threads: 1, Rate: figure(1e10, 1e8, system.Precise)}, {Kernel: "triad-memory", Unit: "byte/s", Threads: 2, Rate: figure(2e10, 1e8, system.Precise)}},
		Probe:   &system.ProbeCost{Mode: "uprobe.multi", Jump: 1000, Emulated: 1100, Call: 1200, SingleStep: 9000, Return: 700, Folded: 800},
	}
	for _, where := range []system.Where{system.Socket, system.Node} {
		for _, b := range []uint64{1, 1 << 20} {
			p.MPI = append(p.MPI,
				system.MPI{Operation: op("MPI_Send"), Bytes: b, Processes: 2, Where: where, Nodes: 1, Cost: figure(300+float64(b), 1, system.Precise)},
				system.MPI{Operation: op("MPI_Sendrecv"), Bytes: b, Processes: 2, Where: where, Nodes: 1, Cost: figure(400+float64(b), 1, system.Precise)},
				system.MPI{Operation: op("MPI_Isend"), Bytes: b, Processes: 2, Where: where, Nodes: 1, Cost: figure(100+float64(b)/2, 1, system.Bound)})
		}
	}
	p.MPI = append(p.MPI,
		system.MPI{Operation: op("MPI_Barrier"), Processes: 4, Where: system.Node, Nodes: 1, Cost: figure(5000, 10, system.Precise), Oversubscribed: true},
		system.MPI{Operation: op("MPI_Bcast"), Bytes: 1, Processes: 4, Where: system.Node, Nodes: 1, Cost: figure(6000, 10, system.Precise), Oversubscribed: true},
		system.MPI{Operation: op("MPI_Alltoall"), Bytes: 8, Processes: 4, Where: system.Node, Nodes: 1, Cost: figure(7000, 10, system.Precise), Oversubscribed: true})
	return p
}

func TestGolden(t *testing.T) {
	arm := &system.Profile{Machine: system.Machine{Architecture: "aarch64"}, Probe: &system.ProbeCost{Emulated: 1100, Call: 1200, SingleStep: 9000, Return: 700, Folded: 800}}
	for name, p := range map[string]*system.Profile{
		"whole.txt": sample(t), "arm64.txt": arm, "empty.txt": {Taken: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)},
	} {
		var got bytes.Buffer
		if err := Write(&got, p); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
