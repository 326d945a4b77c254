package bpf

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	perf "github.com/elastic/go-perf"
	"golang.org/x/sys/unix"
)

// Other delays of the thread, short or long, do not change the measured cost of a sample.
func TestCostOfGaps(t *testing.T) {
	const look, cost = 40 * time.Nanosecond, 20 * time.Microsecond
	var gaps []time.Duration
	for i := range 100000 {
		switch {
		case i%2500 == 0: // 40 samples
			gaps = append(gaps, look+cost)
		case i%20000 == 1: // 5 ticks of the kernel's clock
			gaps = append(gaps, 3*time.Microsecond)
		case i%30000 == 2: // 4 others that had the processor
			gaps = append(gaps, 4*time.Millisecond)
		default:
			gaps = append(gaps, look)
		}
	}
	if got, err := costOf(gaps, 40); got != cost || err != nil {
		t.Errorf("a sample costs %s (%v), want %s", got, err, cost)
	}
	if _, err := costOf(gaps, 3); !errors.Is(err, ErrTooBusy) {
		t.Errorf("of 3 samples: %v", err)
	}
}

// If an event comes ten times as often as allowed, its period is raised tenfold. The sampler reads
// the clock, and then the counts. If it loses its core in between, it takes another rate for the
// real one. That does not happen in each of several tries.
func TestSamplerKeepsToARate(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("sampling needs root")
	}
	const period, rate, tries = 100_000, 1000, 5 // ns of a clock: 10,000 a second
	var all []uint64
	for range tries {
		got := raisedTo(t, period, rate)
		if all = append(all, got); got >= 8*period && got <= 12*period {
			return
		}
	}
	t.Errorf("the period was raised to %d ns, want about %d", all, 10*period)
}

// raisedTo returns the period to which the sampler raises that of a clock, in ns. 0: it does not.
func raisedTo(t *testing.T, period uint64, rate float64) (got uint64) {
	t.Helper()
	p, err := LoadProbes(Perf)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.LoadSampler()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := &perf.Attr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK}
	a.SetSamplePeriod(period)
	a.Options.Disabled = true
	if err := s.Open(a); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	s.KeepTo(ctx, period, rate, func(n uint64) {
		got = n
		stop()
	})
	return got
}
