package main

import (
	"fmt"
	"strconv"
	"strings"
)

func (r *results) writeSamples(p *page) {
	if len(r.samples) == 0 {
		return
	}
	p.line("## What a sample costs")
	p.line("")
	p.line("Microseconds of the time of the thread that it finds (`bench/programs/spin.c`), by %d samples a second; *interrupt*: the same event with a", sampleRate)
	p.line("program that does nothing; *share*: ours, of a thread's time at the default rate of 199 samples a second.")
	p.line("")
	p.head(">frames of 200 bytes", ">interrupt", ">ours", ">share")
	for _, s := range r.samples {
		p.row(strconv.Itoa(s.frames), fmt.Sprintf("%.2f", s.empty/1e3), fmt.Sprintf("%.2f", s.ours/1e3), fmt.Sprintf("%.3f %%", s.ours*199/1e9*100))
	}
	p.line("")
}

func (r *results) writeStages(p *page) {
	if len(r.stages) == 0 {
		return
	}
	p.line("## How fast events are taken")
	p.line("")
	p.line("Millions of events per second on one core, on synthetic streams. Goal: %d in a row, without allocation per event.", goalMillions)
	p.line("The last three are by processor time. Goal: ahead of all their producers together, which make 1 million.")
	p.line("")
	p.head("step", ">M events/s", ">allocations")
	producers := func(s stage) bool { return strings.HasPrefix(s.name, "Producers/") || s.name == recordingStage }
	for _, s := range r.stages {
		if !producers(s) {
			p.row(s.title, figure(s.millions, true, "%.1f"), strconv.Itoa(s.allocs))
		}
	}
	p.row("the three in a row (computed from the medians; engine: both)", fmt.Sprintf("%.1f", r.inARow()), "")
	for _, s := range r.stages {
		if producers(s) {
			p.row(s.title, figure(s.millions, true, "%.1f"), strconv.Itoa(s.allocs))
		}
	}
	p.line("")
}
