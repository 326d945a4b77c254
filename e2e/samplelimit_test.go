package e2e

import (
	"math"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// However often samples are asked for, they take a small part of the program's time. At a hundred
// thousand a second a program would run at half its speed.
func TestSamplingIsBounded(t *testing.T) {
	bin := testbin.Build(t, "hotlines.c", testbin.Options{})
	measured := func(flags ...string) (p *profile.Profile, cpu int64) {
		p = clean(t, options{env: []string{"OMP_NUM_THREADS=1"}, flags: append(flags, "--counters", "none")}, bin, "300", "400000").main
		return p, p.Meta.UserTime + p.Meta.SysTime
	}
	for _, flags := range [][]string{{"--sample", "task-clock:100000"}, {"--sample", "task-clock", "--sample-period", "10000"}} {
		const most = 1.2 // 5 %, and what the machine's caches make of it
		var p *profile.Profile
		alone, cpu := int64(math.MaxInt64), int64(math.MaxInt64)
		// What else the machine does adds to a run's time, and its processors may become slower
		// for a while. So runs with and without samples take turns. The shortest of each counts.
		for turn := 0; turn < 8 && (turn < 2 || float64(cpu) > most*float64(alone)); turn++ {
			_, without := measured("--sample", "off")
			with, used := measured(flags...)
			if p == nil || used < cpu {
				p = with
			}
			alone, cpu = min(alone, without), min(cpu, used)
		}
		if float64(cpu) > most*float64(alone) {
			t.Errorf("%v: the program takes %d ms of processor time, alone %d", flags, cpu/1e6, alone/1e6)
		}
		told := false
		for _, w := range p.Warnings {
			told = told || strings.Contains(w, "A sample costs ") && strings.Contains(w, " instead of 100000")
		}
		s := p.Meta.Sampling
		if !told || s.Frequency == 100000 || s.Period == 10000 || s.Taken < 20 {
			t.Errorf("%v: %+v, told %t: %q", flags, s, told, p.Warnings)
		}
	}
}
