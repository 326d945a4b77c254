package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ompp-attach/collect/sampling"
)

// sampleArgs parses the flags of run or attach.
func sampleArgs(t *testing.T, event string, args ...string) *sampleFlags {
	t.Helper()
	c := &cobra.Command{}
	var f sampleFlags
	f.register(c, event)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

func TestSampleFlags(t *testing.T) {
	for _, tc := range []struct {
		args             []string
		event            string
		kind, config     uint64
		frequency, asked uint64
		byFrequency      bool
	}{
		{nil, "task-clock", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, sampling.DefaultRate, uint64(time.Second) / sampling.DefaultRate, false},
		{[]string{"--sample", "task-clock:1000"}, "task-clock", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, 1000, 1e6, false},
		{[]string{"--sample", "cycles:u:500"}, "cycles:u", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, 500, 500, true},
		{[]string{"--sample", "LLC-load-misses", "--sample-period", "1009"}, "LLC-load-misses", unix.PERF_TYPE_HW_CACHE, unix.PERF_COUNT_HW_CACHE_LL | 1<<16, 0, 1009, false},
	} {
		a, as, err := sampleArgs(t, sampleLaunched, tc.args...).attr()
		if err != nil {
			t.Errorf("%q: %v", tc.args, err)
			continue
		}
		if uint64(a.Type) != tc.kind || a.Config != tc.config || a.Sample != tc.asked || a.Options.Freq != tc.byFrequency {
			t.Errorf("%q: event %d/%#x, sample %d, by frequency: %t", tc.args, a.Type, a.Config, a.Sample, a.Options.Freq)
		}
		if as.Event != tc.event || as.Frequency != tc.frequency {
			t.Errorf("%q: described as %+v", tc.args, as)
		}
	}
	for _, args := range [][]string{{"--sample", "off"}, {"--sample", ""}} {
		if a, _, err := sampleArgs(t, sampleLaunched, args...).attr(); a != nil || err != nil {
			t.Errorf("%q: %+v, %v", args, a, err)
		}
	}
	if a, _, err := sampleArgs(t, sampleAttached).attr(); a != nil || err != nil {
		t.Errorf("attach samples without being asked: %+v, %v", a, err)
	}
}

func TestBadSampleFlags(t *testing.T) {
	for _, tc := range []struct{ args, words string }{
		{"--sample cycels", "unknown counter,cycles"},
		{"--sample page-faults", "only task-clock"},
		{"--sample cycles,instructions", "only one event"},
		{"--sample cycles:0", "above 0"},
		{"--sample cycles:100 --sample-period 1000", "without --sample-period"},
	} {
		err := sampleArgs(t, sampleLaunched, strings.Fields(tc.args)...).check()
		if err == nil {
			t.Errorf("%s: accepted", tc.args)
			continue
		}
		for _, w := range strings.Split(tc.words, ",") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", tc.args, err, w)
			}
		}
	}
}
