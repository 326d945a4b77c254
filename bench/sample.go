package main

import (
	"fmt"
	"strconv"
	"time"

	perf "github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"ompp-attach/bench/baseline"
)

// sampleRate is how often a processor is sampled in a second: much oftener than
// by default, so that the cost can be told from noise.
const sampleRate = 1999

// sampleFrames are how many frames of 200 bytes the sampled thread has open.
var sampleFrames = []int{1, 30, 140}

// sampleCost is what a sample costs the thread that it finds, in ns.
type sampleCost struct {
	frames      int
	empty, ours float64
}

func measureSampling(dir string) ([]sampleCost, error) {
	t, err := target{compiler: "gcc", flags: []string{"-fopenmp"}}.build("spin.c", dir)
	if err != nil {
		return nil, err
	}
	var out []sampleCost
	for _, frames := range sampleFrames {
		ns, err := measureSample(&t, frames, dir)
		if err != nil {
			return nil, err
		}
		// Of the time on a processor, the interrupts have the part by which work
		// takes longer.
		each := func(w way) float64 {
			s, _ := ns.each(0, func(v [numWays]float64) float64 { return 1 - v[bare]/v[w] }, w, bare)
			return s.median * 1e9 / sampleRate
		}
		out = append(out, sampleCost{frames, each(empty), each(ours)})
	}
	return out, nil
}

func measureSample(t *target, frames int, dir string) (*turns, error) {
	p, err := t.start(strconv.Itoa(frames))
	if err != nil {
		return nil, err
	}
	defer p.stop()
	attach := func(sample string) *means {
		return &means{on: p, begin: func() (func() error, error) {
			stop, _, err := attachTool(p.pid(), dir, "--sample", sample)
			return stop, err
		}}
	}
	interrupts := func() (func() error, error) {
		a := &perf.Attr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK}
		a.SetSamplePeriod(uint64(time.Second) / sampleRate)
		a.Options.Disabled = true
		s, err := baseline.OpenSampler(a)
		if err != nil {
			return nil, err
		}
		return s.Close, nil
	}
	by := [numWays]*means{bare: attach("off"), empty: {on: p, begin: interrupts}, ours: attach(fmt.Sprintf("task-clock:%d", sampleRate))}
	return takeTurns(by, fewer(), 1, func(m *means, _ int) (float64, error) { return settled(m.on, &operation{mode: "spin", threads: 1}) })
}
