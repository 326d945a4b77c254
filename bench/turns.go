package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// way is one way of observing a target.
type way int

// The ways, in the order in which they take turns.
const (
	bare       way = iota // not at all
	shim                  // a library in the process (testdata/truth)
	entries               // an empty probe at each instruction that ours probes
	empty                 // and at each return
	ours                  // ompp-attach attach --counters none
	script                // bpftrace, all columns
	perfRecord            // perf record of the same instructions and returns
	perfTrace             // perf trace of the same
	counting              // ompp-attach with the counters of the kernel
	fourEvents            // and with four perf events
	recording             // ompp-attach that records a timeline into a file
	reads                 // an empty probe at each of our instructions that reads them
	numWays
)

// means is how a way is begun, and on which process. What begin returns ends it.
type means struct {
	on    *process
	begin func() (end func() error, err error)
	run   func() (float64, error) // instead, of a command: all of its run
}

// seldom are the ways that take every other round only: starting and ending
// them takes seconds, and they are far from the others.
var seldom = [numWays]bool{script: true, perfRecord: true, perfTrace: true}

// turns are what each way's turns gave: by round and item; nil where a way had no
// turn in a round.
type turns [numWays][][]float64

// takeTurns measures items under each way that there is, so many rounds. The
// ways begin their round at another one each time.
func takeTurns(by [numWays]*means, rounds, items int, measure func(m *means, item int) (float64, error)) (*turns, error) {
	t := &turns{}
	for round := range rounds {
		for i := range numWays {
			w := (i + way(round)) % numWays
			m := by[w]
			if m == nil || seldom[w] && round%2 != 0 {
				t[w] = append(t[w], nil)
				continue
			}
			begin := time.Now()
			got, err := m.turn(items, measure)
			if *verbose {
				fmt.Fprintf(os.Stderr, "  round %d, %s: %.1f s\n", round+1, wayNames[w], time.Since(begin).Seconds())
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", wayNames[w], err)
			}
			t[w] = append(t[w], got)
		}
	}
	return t, nil
}

// turn measures all items under one way.
func (m *means) turn(items int, measure func(m *means, item int) (float64, error)) (got []float64, err error) {
	if m.begin != nil {
		end, err := m.begin()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	for item := range items {
		v, err := measure(m, item)
		if err != nil {
			return nil, err
		}
		got = append(got, v)
	}
	return got, nil
}

// spread is the middle and the range of repeated measurements.
type spread struct{ median, min, max float64 }

// times is the same in another unit.
func (s spread) times(f float64) spread { return spread{f * s.median, f * s.min, f * s.max} }

func spreadOf(v []float64) spread {
	slices.Sort(v)
	n := len(v)
	if n == 0 {
		return spread{}
	}
	return spread{(v[n/2] + v[(n-1)/2]) / 2, v[0], v[n-1]}
}

// of returns a way's own values of an item; false if it was not measured.
func (t *turns) of(w way, item int) (spread, bool) {
	return t.each(item, func(v [numWays]float64) float64 { return v[w] }, w)
}

// added returns what a way adds to another one, round by round.
func (t *turns) added(w, to way, item int) (spread, bool) {
	return t.each(item, func(v [numWays]float64) float64 { return v[w] - v[to] }, w, to)
}

// ratio returns how many times of what one way adds to the bare process another
// one adds, round by round. There is none if one of them adds nothing in some
// round: then the threads wait for each other in a different way, or the machine
// does something else, and what is measured is that.
func (t *turns) ratio(w, to way, item int) (spread, bool) {
	sound := true
	s, ok := t.each(item, func(v [numWays]float64) float64 {
		sound = sound && v[w] > v[bare] && v[to] > v[bare]
		return (v[w] - v[bare]) / (v[to] - v[bare])
	}, w, to, bare)
	return s, ok && sound
}

// share returns what a way adds to the bare process as a part of what that
// takes, round by round.
func (t *turns) share(w way, item int) (spread, bool) {
	return t.each(item, func(v [numWays]float64) float64 { return v[w]/v[bare] - 1 }, w, bare)
}

func (t *turns) each(item int, f func([numWays]float64) float64, need ...way) (spread, bool) {
	var all []float64
	for round := range t[bare] {
		var v [numWays]float64
		complete := true
		for _, w := range need {
			if round >= len(t[w]) || t[w][round] == nil {
				complete = false
				break
			}
			v[w] = t[w][round][item]
		}
		if complete {
			all = append(all, f(v))
		}
	}
	return spreadOf(all), len(all) > 0
}

var wayNames = [numWays]string{
	"bare", "shim", "empty probes, entries only", "empty probes", "ours", "bpftrace", "perf record", "perf trace",
	"ours with counters", "ours with four perf events", "ours with a timeline", "probes that read four perf events",
}
