package main

import (
	"fmt"
	"slices"
)

// The goals that stand beside the figures.
const (
	goalSlower   = 0.02 // median slow-down of the mini-apps
	goalNaive    = 10   // times that a script adds, on programs with libgomp
	goalMillions = 20   // events per second and core, decoder and engine in a row
	goalSpans    = 1    // millions of spans recorded per second and core
)

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

// writeGoals says first what the rest shows at length.
func (r *results) writeGoals(p *page) {
	p.line("## Goals")
	p.line("")
	p.head("goal", "found", "")
	r.costGoals(p)
	r.appGoals(p)
	r.throughputGoals(p)
	r.startGoals(p)
	p.line("")
	p.line("That counts stay exact when threads do nothing but reach probes is no matter of speed: `TestSaturationForSeconds` of package e2e.")
	p.line("")
}

// costGoals are about what an execution costs.
func (r *results) costGoals(p *page) {
	for _, kind := range []struct {
		title string
		goal  float64
	}{
		{"criticals, locks, atomics, ordered (added up in the kernel)", folded},
		{"all other constructs and MPI calls (reported one by one)", streamed},
	} {
		var all []float64
		met := 0
		for _, c := range append(slices.Clone(r.costs), r.mpi...) {
			for i, op := range c.ops {
				if s, ok := c.ns.ratio(ours, empty, i); ok && op.goal == kind.goal {
					all = append(all, s.median)
					if s.median <= op.goal {
						met++
					}
				}
			}
		}
		if len(all) > 0 {
			s := spreadOf(all)
			p.row(fmt.Sprintf("%s: at most %.2f times the empty probes", kind.title, kind.goal),
				fmt.Sprintf("%.2f to %.2f; %d of %d operations within it", s.min, s.max, met, len(all)), verdict(met == len(all)))
		}
	}
}

// appGoals are about what measuring the mini-apps costs.
func (r *results) appGoals(p *page) {
	if added, ok := r.processor(); ok {
		p.row(fmt.Sprintf("processor time that our probes add to the mini-apps, median over these: under %.0f %%", 100*goalSlower),
			fmt.Sprintf("%.1f %%", 100*added), verdict(added < goalSlower))
	}
	if script, own, ok := r.naive(); ok {
		found, met := fmt.Sprintf("%.0f ms to %.0f ms", 1e3*script, 1e3*own), verdict(script >= goalNaive*own)
		switch {
		case r.noise() > tooNoisy || script <= 0:
			met = "not told: too much else going on"
		case own > 0:
			found = fmt.Sprintf("%.1f times (%s)", script/own, found)
		}
		p.row(fmt.Sprintf("a bpftrace script adds at least %d times as much time to the mini-apps with libgomp, all in all", goalNaive),
			found, met)
	}
}

// throughputGoals are about how many events and spans a core takes.
func (r *results) throughputGoals(p *page) {
	if m := r.inARow(); m > 0 {
		p.row(fmt.Sprintf("%d million events per second and core through decoder and engine", goalMillions), fmt.Sprintf("%.1f", m), verdict(m >= goalMillions))
	}
	for _, s := range r.stages {
		if s.name == recordingStage {
			p.row(fmt.Sprintf("%d million spans of a timeline recorded per second by one core, nothing lost", goalSpans), fmt.Sprintf("%.1f", s.millions.median), verdict(s.millions.median >= goalSpans))
		}
	}
	if len(r.live) > 0 {
		found, met := liveGoal(r.live)
		p.row(fmt.Sprintf("%d million spans per second recorded beside a running program, nothing lost", goalSpans), found, met)
	}
}

// startGoals are about how long attaching and starting take.
func (r *results) startGoals(p *page) {
	if r.start != nil {
		for _, x := range r.start.starts {
			p.row(fmt.Sprintf("attaching to a process (%s): under %d ms", x.target, goalStart), fmt.Sprintf("%.0f ms", x.attach.median), verdict(x.attach.median < goalStart))
		}
	}
	for _, l := range r.launches {
		if !l.runtime {
			p.row(fmt.Sprintf("starting a process (%s): under %d ms more", l.what, goalLaunch), fmt.Sprintf("%.1f ms", l.more.median), verdict(l.more.median < goalLaunch))
		}
	}
}

// tooNoisy is how much the bare programs may vary, at most, for a slow-down of
// some percent to be told.
const tooNoisy = 0.15

// noise is by how much the mini-apps vary when nothing observes them: the median
// of their ranges, as parts of their medians.
func (r *results) noise() float64 {
	var all []float64
	for _, a := range r.apps {
		if s, ok := a.seconds.of(bare, 0); ok {
			all = append(all, (s.max-s.min)/s.median)
		}
	}
	return spreadOf(all).median
}

// slowdown is the median over the mini-apps of what a way adds.
func (r *results) slowdown(w way) (float64, bool) {
	var all []float64
	for _, a := range r.apps {
		if s, ok := a.seconds.share(w, 0); ok {
			all = append(all, s.median)
		}
	}
	return spreadOf(all).median, len(all) > 0
}

// processor is the median over the mini-apps of the processor time that ours adds.
func (r *results) processor() (float64, bool) {
	var all []float64
	for _, a := range r.apps {
		if share, _, _, ok := a.processor.slowdown(); ok {
			all = append(all, share)
		}
	}
	return spreadOf(all).median, len(all) > 0
}

// naive sums up what the script and ours without counters (it has none, either)
// add to the mini-apps with libgomp, in s.
func (r *results) naive() (script_, own float64, ok bool) {
	for _, a := range r.apps {
		if a.runtime != "libgomp" {
			continue
		}
		x, has := a.seconds.added(script, bare, 0)
		y, _ := a.seconds.added(ours, bare, 0)
		if has {
			script_, own, ok = script_+x.median, own+y.median, true
		}
	}
	return script_, own, ok
}

// inARow is how many million events a second pass all stages, one after the
// other; 0 if they were not measured.
func (r *results) inARow() float64 {
	whole := 0.0
	for _, s := range r.stages {
		switch s.name {
		case "Drain", "Event", "Engine/mixed":
			whole += 1 / s.millions.median
		}
	}
	if whole == 0 {
		return 0
	}
	return 1 / whole
}
