package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// results are one run's measurements.
type results struct {
	costs  []cost
	mpi    []cost
	attach []attachTime
	stages []stage

	samples []sampleCost
}

// The goals of the first version.
const (
	goalRatio    = 1.4 // our probe to an empty one
	goalMillions = 5   // events per second and core
	goalAttach   = 300 // ms
)

func (r *results) markdown() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("# Benchmarks")
	p("")
	p("Written by `make bench`, all in one run; do not edit. %s.", machine())
	p("Medians of %d turns of %d ms, in brackets the range. The configurations take turns on one running", *rounds, *millis)
	p("process (`bench/programs/ops.c`), so what else the machine does falls on all of them alike; teams of 2 on few")
	p("cores vary most. Figures of other machines differ in size; the ratios are what carries over.")
	p("")
	p("## What the target pays")
	p("")
	p("Nanoseconds per operation. *bare*: no probe. The other columns are what comes on top of it:")
	p("")
	p("- *entry*: an empty program at the same instructions as ours; *entry+return*: also at the returns")
	p("  that ours report. A free lock of libgomp needs no return, so there both are the same.")
	p("- *ours*: `ompp-attach attach`, with everything it does in user space at the same time.")
	p("- *bpftrace*: a script that counts and times the same calls (`bench/programs/*.bt`).")
	p("- *ours/empty*: ours to entry+return, that is, to probes at the same places that do nothing. Goal: at most %.1f.", goalRatio)
	p("- *bpftrace/ours*: how many times dearer the script is.")
	p("")
	p("| runtime | operation | bare | entry | entry+return | ours | bpftrace | ours/entry | ours/empty | bpftrace/ours |")
	p("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, c := range r.costs {
		cells := append(c.columns(bare, emptyEntry, emptySame, ours, theirs),
			c.ratio(ours, emptyEntry), c.ratio(ours, emptySame), c.ratio(theirs, ours))
		p("| %s | %s | %s |", c.runtime, c.op.title, strings.Join(cells, " | "))
	}
	p("")
	p("## What counters cost")
	p("")
	p("On top of *ours*, which reads none: with the four that the kernel keeps of each thread (task-clock, page-faults,")
	p("context-switches, cpu-migrations), and with four perf events. *kernel's reads*: what four reads of the same events add to an")
	p("empty probe at the same instructions, returns not counted. ns per operation, of 2 events with libgomp's critical.")
	p("")
	p("| runtime | operation | the kernel's four | four perf events | kernel's reads |")
	p("| --- | --- | ---: | ---: | ---: |")
	for _, c := range r.costs {
		if c.op.counted {
			p("| %s | %s | %s | %s | %s |", c.runtime, c.op.title, c.over(kernels, ours), c.over(events, ours), c.over(reads, emptyEntry))
		}
	}
	p("")
	p("## What an MPI call costs")
	p("")
	p("The same, of `bench/programs/mpi.c`: one process that calls MPI for itself.")
	p("")
	p("| library | operation | bare | entry | entry+return | ours | ours/empty |")
	p("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
	for _, c := range r.mpi {
		p("| %s | %s | %s |", c.runtime, c.op.title, strings.Join(append(c.columns(bare, emptyEntry, emptySame, ours), c.ratio(ours, emptySame)), " | "))
	}
	p("")
	p("## What a sample costs")
	p("")
	p("Microseconds of the time of the thread that it finds (`bench/programs/spin.c`), by %d samples a second; *interrupt*: the same event with a", sampleRate)
	p("program that does nothing; *share*: ours, of a thread's time at the default rate of 199 samples a second.")
	p("")
	p("| frames of 200 bytes | interrupt | ours | share |")
	p("| ---: | ---: | ---: | ---: |")
	for _, s := range r.samples {
		p("| %d | %.2f | %.2f | %.3f %% |", s.frames, s.empty/1e3, s.ours/1e3, s.ours*199/1e9*100)
	}
	p("")
	p("## How fast events are taken")
	p("")
	p("Millions of events per second on one core, on synthetic streams. Goal for the engine: at least %d, without", goalMillions)
	p("allocation per event.")
	p("")
	p("| step | M events/s | allocations |")
	p("| --- | ---: | ---: |")
	for _, s := range r.stages {
		p("| %s | %.1f (%.1f-%.1f) | %d |", s.title, s.millions.median, s.millions.min, s.millions.max, s.allocs)
	}
	whole := 0.0
	for _, s := range r.stages {
		if s.name != "Engine/criticals" && s.name != "Engine/regions" {
			whole += 1 / s.millions.median
		}
	}
	p("| the three in a row (computed from the medians; engine: both) | %.1f | |", 1/whole)
	p("")
	p("## How long attaching lasts")
	p("")
	p("Milliseconds from the start of the command until it reports that it has attached. Goal: under %d.", goalAttach)
	p("")
	p("| runtime | ms |")
	p("| --- | ---: |")
	for _, a := range r.attach {
		p("| %s | %.0f (%.0f-%.0f) |", a.runtime, a.ms.median, a.ms.min, a.ms.max)
	}
	return b.String()
}

// columns are the configurations' times, but for bare what comes on top of it.
func (c *cost) columns(configs ...int) (cells []string) {
	for _, k := range configs {
		s, base := c.ns[k], 0.0
		if k != bare {
			base = c.ns[bare].median
		}
		cells = append(cells, fmt.Sprintf("%.0f (%.0f-%.0f)", s.median-base, s.min-base, s.max-base))
	}
	return cells
}

// over is what a configuration adds to another one.
func (c *cost) over(x, y int) string {
	if c.ns[x].median == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", c.ns[x].median-c.ns[y].median)
}

// ratio compares what two configurations add.
func (c *cost) ratio(x, y int) string {
	d := c.ns[y].median - c.ns[bare].median
	if d <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", (c.ns[x].median-c.ns[bare].median)/d)
}

// machine says where the figures come from.
func machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	kernel := "unknown kernel"
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		kernel = unix.ByteSliceToString(u.Release[:])
	}
	bpftrace := "no bpftrace"
	if out, err := exec.Command("bpftrace", "--version").Output(); err == nil {
		bpftrace = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%s: %s, %d cores, Linux %s, %s, %s", time.Now().Format(time.DateOnly), cpu, runtime.NumCPU(), kernel, runtime.Version(), bpftrace)
}
