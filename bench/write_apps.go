package main

import (
	"fmt"
	"runtime"
)

func (r *results) writeApps(p *page) {
	if len(r.apps) == 0 {
		return
	}
	p.line("## What a program pays")
	p.line("")
	p.line("Slow-down of mini-apps (`bench/programs`) in percent of the time that the program itself measures around its work, all results verified. A turn lasts about")
	p.line("a second; of its %d or more works the median counts. %d threads; the hybrid program has %d ranks of %s. *hits*: thousands of our probes' hits per second, all threads.",
		minWorks, runtime.NumCPU(), ranks, hybridThreads())
	p.line("*processor*: by how much more processor time, in percent, all threads take with *ours*. There are %d pairs of turns, one with *ours* and one", pairTurns)
	p.line("without. The lower quartiles of the two kinds of turns are compared. Brackets hold the quartiles over the pairs. Other load on the machine changes these figures little.")
	p.line("*ours*: `ompp-attach attach --counters none`; *timeline*: the same with `--timeline all`, with the number of spans that it lost;")
	p.line("*counters*: with the four that the kernel keeps of each thread. The others are as above;")
	p.line("*bpftrace*: for the constructs that the program has. For the hybrid program, empty probes, bpftrace and perf are left out: they take one process.")
	p.line("")
	p.head("runtime", "program", "what it does", ">hits", ">bare, ms", ">processor", ">shim", ">empty", ">ours", ">timeline", ">spans lost", ">counters", ">bpftrace", ">perf record")
	for _, a := range r.apps {
		base, ok := a.seconds.of(bare, 0)
		hits := "-"
		if a.hits > 0 {
			hits = fmt.Sprintf("%.1f", a.hits/1e3)
		}
		cells := []string{a.runtime, a.name, a.what, hits, figure(base.times(1e3), ok, "%.0f"), "-"}
		if share, lower, upper, ok := a.processor.slowdown(); ok {
			cells[len(cells)-1] = percent(spread{share, lower, upper}, true)
		}
		for _, w := range []way{shim, empty, ours, recording, counting, script, perfRecord} {
			s, ok := a.seconds.share(w, 0)
			if cells = append(cells, percent(s, ok)); w == recording {
				cells = append(cells, a.spans.String())
			}
		}
		p.row(cells...)
	}
	p.line("")
	slow, _ := r.slowdown(ours)
	with, _ := r.slowdown(recording)
	processor, _ := r.processor()
	p.line("The mini-apps take %.1f %% more processor time with *ours*, as the median over all of them (goal: under %.0f %%). Their median slow-down is %.1f %%. With a timeline it is %.1f %%, without the hybrid programs.",
		100*processor, 100*goalSlower, 100*slow, 100*with)
	p.line("")
}

func (r *results) writeCommands(p *page) {
	if len(r.commands) == 0 {
		return
	}
	p.line("## What a command takes longer")
	p.line("")
	p.line("Seconds from a command's start to its end, by itself and behind `ompp-attach run --`: finding the runtime, placing probes, taking")
	p.line("them away and writing the profile and all reports are in it. The programs of the demos, shortened.")
	p.line("")
	p.head("program", ">bare", ">added by ours")
	for _, c := range r.commands {
		base, ok := c.seconds.of(bare, 0)
		added, also := c.seconds.added(ours, bare, 0)
		p.row(c.title, figure(base, ok, "%.2f"), figure(added, also, "%.2f"))
	}
	p.line("")
}
