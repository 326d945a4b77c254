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
	if slow, ok := r.slowdown(counting); ok {
		plain, _ := r.slowdown(ours)
		p.row(fmt.Sprintf("median slow-down of the mini-apps: under %.0f %%", 100*goalSlower),
			fmt.Sprintf("%.1f %%; without counters %.1f %%", 100*slow, 100*plain), verdict(slow < goalSlower))
	}
	if script, own, ok := r.naive(); ok {
		found := fmt.Sprintf("%.3f s to %.3f s", script, own)
		if own > 0 {
			found = fmt.Sprintf("%.1f times (%s)", script/own, found)
		}
		p.row(fmt.Sprintf("a bpftrace script adds at least %d times as much time to the mini-apps with libgomp, all in all", goalNaive),
			found, verdict(script >= goalNaive*own))
	}
	if m := r.inARow(); m > 0 {
		p.row(fmt.Sprintf("%d million events per second and core through decoder and engine", goalMillions), fmt.Sprintf("%.1f", m), verdict(m >= goalMillions))
	}
	if r.start != nil {
		for _, x := range r.start.starts {
			p.row(fmt.Sprintf("attaching to a process (%s): under %d ms", x.target, goalStart), fmt.Sprintf("%.0f ms", x.attach.median), verdict(x.attach.median < goalStart))
		}
	}
	p.line("")
	p.line("That counts stay exact when threads do nothing but reach probes is no matter of speed: `TestSaturationForSeconds` of package e2e.")
	p.line("")
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
		if s.name != "Engine/criticals" && s.name != "Engine/regions" {
			whole += 1 / s.millions.median
		}
	}
	if whole == 0 {
		return 0
	}
	return 1 / whole
}
