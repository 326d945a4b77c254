package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	perf "github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// sampleRate is how often a processor is sampled in a second: much oftener than
// by default, so that the cost can be told from noise.
const sampleRate = 9973

// sampleFrames are how many frames of 200 bytes the sampled thread has open.
var sampleFrames = []int{1, 30, 140}

// sampleCost is what a sample costs the thread that it finds, in ns.
type sampleCost struct {
	frames      int
	empty, ours float64
}

func measureSampling(dir string) ([]sampleCost, error) {
	bin := filepath.Join(dir, "spin")
	if msg, err := exec.Command("gcc", "-O2", "-g", "-fopenmp", "-o", bin, "bench/programs/spin.c").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, msg)
	}
	t := target{binary: bin}
	var out []sampleCost
	for _, frames := range sampleFrames {
		c := cost{}
		if err := measureSample(&t, frames, dir, &c); err != nil {
			return nil, err
		}
		// Of the time on a processor, the interrupts have the part by which work
		// takes longer.
		each := func(config int) float64 {
			return (1 - c.ns[bare].median/c.ns[config].median) * 1e9 / sampleRate
		}
		out = append(out, sampleCost{frames, each(emptySame), each(ours)})
	}
	return out, nil
}

func measureSample(t *target, frames int, dir string, c *cost) error {
	p, err := t.start(&operation{mode: strconv.Itoa(frames)})
	if err != nil {
		return err
	}
	defer p.stop()
	pid := p.cmd.Process.Pid
	attach := func(sample string) func() (func() error, error) {
		return func() (func() error, error) {
			stop, _, err := attachTool(pid, dir, "--sample", sample)
			return stop, err
		}
	}
	empty := func() (func() error, error) {
		a := &perf.Attr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK}
		a.SetSamplePeriod(uint64(time.Second) / sampleRate)
		a.Options.Disabled = true
		s, err := bpf.OpenEmptySampler(a)
		if err != nil {
			return nil, err
		}
		return s.Close, nil
	}
	return takeTurns(c, p, configs{bare: attach("off"), emptySame: empty, ours: attach(fmt.Sprintf("task-clock:%d", sampleRate))})
}
