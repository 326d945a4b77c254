package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

var mpiOperations = []operation{
	{title: "MPI_Comm_rank", mode: "rank", threads: 1},
	{title: "MPI_Test", mode: "test", threads: 1},
	{title: "MPI_Iprobe", mode: "iprobe", threads: 1},
	{title: "MPI_Irecv, MPI_Send, MPI_Wait, to itself", mode: "sendrecv", threads: 1},
	{title: "MPI_Allreduce, alone", mode: "allreduce", threads: 1},
}

// buildMPITargets builds bench/programs/mpi.c for each MPI that is installed.
func buildMPITargets(dir string) ([]target, error) {
	var out []target
	for _, t := range []target{
		{runtime: "Open MPI", compiler: "mpicc.openmpi"},
		{runtime: "MPICH", compiler: "mpicc.mpich"},
	} {
		if _, err := exec.LookPath(t.compiler); err != nil {
			continue
		}
		t.binary = filepath.Join(dir, t.compiler)
		if msg, err := exec.Command(t.compiler, "-O2", "-g", "-o", t.binary, "bench/programs/mpi.c").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", t.compiler, err, msg)
		}
		out = append(out, t)
	}
	return out, nil
}

// mpiLibrary is the MPI library that a process maps.
func (p *process) mpiLibrary() (*symbols.Module, error) {
	mods, err := symbols.Modules(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	for i := range mods {
		if o := mods[i].Object(); !o.IsExecutable() && probes.IsMPI(o) {
			return &mods[i], nil
		}
	}
	return nil, errors.New("the target maps no MPI library")
}

// measureMPICost is measureCost for MPI calls, without bpftrace.
func measureMPICost(t target, op operation, dir string) (cost, error) {
	c := cost{runtime: t.runtime, op: op}
	p, err := t.start(&op)
	if err != nil {
		return c, err
	}
	defer p.stop()
	lib, err := p.mpiLibrary()
	if err != nil {
		return c, err
	}
	plan, err := probes.NewMPIPlan(lib.Object())
	if err != nil {
		return c, err
	}
	var points []bpf.Point
	for _, pl := range plan.Placements {
		points = append(points, bpf.Point{Offset: pl.Offset, Return: true})
	}
	empty, err := bpf.LoadEmptyProbe()
	if err != nil {
		return c, err
	}
	defer empty.Close()
	err = takeTurns(&c, p, emptyConfigs(p, lib.HostPath, empty, points, true, dir))
	return c, err
}
