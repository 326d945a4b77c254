package main

import (
	"fmt"
	"math"
	"strconv"
)

func (r *results) writeCosts(p *page) {
	if len(r.costs) == 0 {
		return
	}
	p.line("## What an operation costs")
	p.line("")
	p.line("Nanoseconds per operation (`bench/programs/ops.c`: constructs with next to nothing in them, turns of %d ms). *bare*: nothing", *millis)
	p.line("observes it. The other columns are what comes on top of it. Each thread of the team performs the operation; a task is created")
	p.line("by one thread, and executed by any. Worksharing constructs and singles end by their barrier.")
	p.line("")
	p.line("- *hits*: how often BPF programs run per operation, as the kernel counts it, summed over the threads; a return counts. If the")
	p.line("  empty probes' differ, both are given: other probes, or threads that wait for each other more or less often.")
	p.line("- *shim*: a library in the process that only counts calls (`testdata/truth`: LD_PRELOAD for libgomp, OMPT for libomp), in a")
	p.line("  process of its own, which takes its turns beside the other.")
	p.line("- *empty*: programs that do nothing at the instructions and returns that ours probes, as the kernel tells of ours; a return is")
	p.line("  armed when ours arms it (so not for a free lock of libgomp). Ours may sleep, for which the kernel itself takes some 25 ns less.")
	p.line("- *ours*: `ompp-attach attach --counters none`, with everything it does in user space at the same time.")
	p.line("- *bpftrace*: a script that keeps the columns of the same constructs per thread and call site, by entry and return probes at the")
	p.line("  functions' names (`bench/bpftrace.go`).")
	p.line("- *perf record*, *perf trace*: of trace events at the instructions and returns of ours that are reached, written to nowhere. `perf probe`")
	p.line("  cannot define them all (it takes a return only of a call that is probed at its first instruction), so the benchmark does.")
	p.line("- *ours/empty*, with the goal for it; *bpftrace/ours*: how many times dearer the script is. No ratio where one of the two adds")
	p.line("  nothing in some round: probes change how threads wait, and where two wait in turn, that outweighs the rest.")
	p.line("")
	for _, runtime := range []string{"libgomp", "libomp"} {
		if !r.has(runtime) {
			continue
		}
		p.line("### %s", runtime)
		p.line("")
		p.head("operation", ">threads", ">hits", ">bare", ">shim", ">empty", ">ours", ">bpftrace", ">perf record", ">perf trace", ">ours/empty", "goal", ">bpftrace/ours")
		for _, c := range r.costs {
			if c.runtime != runtime {
				continue
			}
			for i, op := range c.ops {
				p.row(append([]string{op.title, strconv.Itoa(op.threads)}, c.cells(i, script, perfRecord, perfTrace)...)...)
			}
		}
		p.line("")
	}
}

func (r *results) has(runtime string) bool {
	for _, c := range r.costs {
		if c.runtime == runtime {
			return true
		}
	}
	return false
}

// cells are an operation's figures: hits, bare, what each way adds, the ratio
// to the goal, and what others cost beside ours.
func (c *costs) cells(i int, others ...way) []string {
	base, ok := c.ns.of(bare, i)
	cells := []string{c.hits[i].String(), figure(base, ok, "%.0f")}
	added := func(w way) {
		s, ok := c.ns.added(w, bare, i)
		cells = append(cells, figure(s, ok, "%.0f"))
	}
	for _, w := range append([]way{shim, empty, ours}, others...) {
		added(w)
	}
	s, ok := c.ns.ratio(ours, empty, i)
	goal := fmt.Sprintf("%.2f", c.ops[i].goal)
	if ok {
		goal += " " + verdict(s.median <= c.ops[i].goal)
	}
	cells = append(cells, figure(s, ok, "%.2f"), goal)
	if len(others) > 0 {
		s, ok = c.ns.ratio(others[0], ours, i)
		cells = append(cells, figure(s, ok, "%.1f"))
	}
	return cells
}

func (h hits) String() string {
	if math.Abs(h.ours-h.empty) > 0.02*h.ours {
		return fmt.Sprintf("%.1f, empty %.1f", h.ours, h.empty)
	}
	return fmt.Sprintf("%.1f", h.ours)
}

func (r *results) writeMPI(p *page) {
	if len(r.mpi) == 0 {
		return
	}
	p.line("## What an MPI call costs")
	p.line("")
	p.line("The same, of `bench/programs/mpi.c`: one process that calls MPI for itself. *shim*: a library that counts calls and volumes.")
	p.line("")
	p.head("library", "operation", ">hits", ">bare", ">shim", ">empty", ">ours", ">perf record", ">perf trace", ">ours/empty", "goal", ">perf record/ours")
	for _, c := range r.mpi {
		for i, op := range c.ops {
			p.row(append([]string{c.runtime, op.title}, c.cells(i, perfRecord, perfTrace)...)...)
		}
	}
	p.line("")
}

func (r *results) writeCounters(p *page) {
	var rows [][]string
	for _, c := range r.costs {
		for i, op := range c.ops {
			if !op.counted {
				continue
			}
			cell := func(w, to way) string {
				s, ok := c.ns.added(w, to, i)
				return figure(s, ok, "%.0f")
			}
			rows = append(rows, []string{c.runtime, op.title, cell(counting, ours), cell(fourEvents, ours), cell(reads, entries)})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.line("## What counters cost")
	p.line("")
	p.line("On top of *ours*, which reads none: with the four that the kernel keeps of each thread (%s),", kernelCounters)
	p.line("and with four perf events. *kernel's reads*: what four reads of the same events add to an empty probe at the same")
	p.line("instructions, returns not counted. ns per operation, one thread.")
	p.line("")
	p.head("runtime", "operation", ">the kernel's four", ">four perf events", ">kernel's reads")
	for _, cells := range rows {
		p.row(cells...)
	}
	p.line("")
}
