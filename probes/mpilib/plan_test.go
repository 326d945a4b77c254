package mpilib

import (
	"os"
	"regexp"
	"testing"

	"ompp-attach/bpf"
	"ompp-attach/mpi"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// mpiLibraries returns the installed libraries, by patterns of their names.
func mpiLibraries(t *testing.T) map[string]*symbols.Object {
	t.Helper()
	out := map[string]*symbols.Object{}
	for name, path := range map[string]string{
		`^Open MPI \d+\.\d+\.\d+$`: "/usr/lib/x86_64-linux-gnu/libmpi.so.40",
		`^MPICH \d+\.\d+(\.\d+)?$`: "/usr/lib/x86_64-linux-gnu/libmpich.so.12",
	} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		o, err := symbols.OpenObject(path)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = o
	}
	if len(out) == 0 {
		t.Skip("no MPI library is installed")
	}
	return out
}

// Every entry point of MPI that a library exports is probed. Each address has one probe, at an
// instruction that is not single-stepped.
func TestPlan(t *testing.T) {
	for name, o := range mpiLibraries(t) {
		p, err := NewPlan(o, false)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(name).MatchString(p.Library.Name) || p.Library.Unknown != nil || len(p.Missing) > 0 {
			t.Errorf("%q, want %s; %v; missing %v", p.Library.Name, name, p.Library.Unknown, p.Missing)
		}
		probed, at := map[mpi.Op]bool{}, map[uint64]bool{}
		for _, pl := range p.Placements {
			if at[pl.Offset] {
				t.Errorf("%s is probed twice", pl.Symbol)
			}
			if pl.Cost == points.SingleStep {
				t.Logf("%s: %s is single-stepped", p.Library.Name, pl.Symbol)
			}
			probed[pl.Op], at[pl.Offset] = true, true
		}
		for i := range mpi.Operations {
			if op := mpi.Op(i); o.Exports(op.String()) && !probed[op] {
				t.Errorf("%s: %s has no probe", p.Library.Name, op)
			}
		}
		if !Is(o) || IsBinding(o) {
			t.Errorf("%s: library %v, binding %v", p.Library.Name, Is(o), IsBinding(o))
		}
	}
}

// These arguments are not in registers.
func TestRow(t *testing.T) {
	for _, tc := range []struct {
		arch  string
		op    string
		comm  uint8
		types [2]uint8
	}{
		{"amd64", "MPI_Send", 5, [2]uint8{2, 0xff}},
		{"amd64", "MPI_Sendrecv", 11, [2]uint8{2, 8}}, // the return address is word 6
		{"arm64", "MPI_Sendrecv", 10, [2]uint8{2, 7}},
		{"amd64", "MPI_Alltoallw", 9, [2]uint8{3, 8}},
	} {
		op, ok := mpi.ParseOp(tc.op)
		if !ok {
			t.Fatalf("no %s", tc.op)
		}
		r := reading{arch: tc.arch}
		row := r.of(op.Info())
		if row.Comm != tc.comm || row.SendType != tc.types[0] || row.RecvType != tc.types[1] || r.err != nil {
			t.Errorf("%s on %s: %+v, %v", tc.op, tc.arch, row, r.err)
		}
	}
	for i := range mpi.Operations {
		for arch := range words {
			r := reading{arch: arch}
			if r.of(&mpi.Operations[i]); r.err != nil {
				t.Errorf("%s on %s: %v", mpi.Operations[i].Name, arch, r.err)
			}
		}
	}
}

// A receive's status is on the stack on amd64, which is not read for its sake: only a receive from
// any source needs it. What else is on the stack is read, and the status with it.
func TestStatusReadLater(t *testing.T) {
	for _, tc := range []struct {
		arch, op string
		status   uint8
		stack    bool
	}{
		{"amd64", "MPI_Recv", 7, false}, // behind the return address
		{"arm64", "MPI_Recv", 6, false},
		{"amd64", "MPI_Sendrecv", 12, true},
		{"arm64", "MPI_Sendrecv", 11, true},
	} {
		op, ok := mpi.ParseOp(tc.op)
		if !ok {
			t.Fatalf("no %s", tc.op)
		}
		r := reading{arch: tc.arch}
		row := r.of(op.Info())
		if row.Status != tc.status || row.Flags&bpf.MPIOnStack != 0 != tc.stack || r.err != nil {
			t.Errorf("%s on %s: status %d, flags %#x, %v", tc.op, tc.arch, row.Status, row.Flags, r.err)
		}
	}
}
