package e2e

import (
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
		for range 3 { // what else the machine does adds to a run's time
			q := clean(t, options{env: []string{"OMP_NUM_THREADS=1"}, flags: append(flags, "--counters", "none")}, bin, "300", "400000").main
			if d := q.Meta.UserTime + q.Meta.SysTime; p == nil || d < cpu {
				p, cpu = q, d
			}
		}
		return p, cpu
	}
	_, alone := measured("--sample", "off")
	for _, flags := range [][]string{{"--sample", "task-clock:100000"}, {"--sample", "task-clock", "--sample-period", "10000"}} {
		p, cpu := measured(flags...)
		const most = 1.2 // 5 %, and what the machine's caches make of it
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
