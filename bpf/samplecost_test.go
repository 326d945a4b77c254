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

// If an event comes ten times as often as allowed, its period is raised tenfold.
func TestSamplerKeepsToARate(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("sampling needs root")
	}
	const period, rate = 100_000, 1000 // ns of a clock: 10,000 a second
	if got := raisedTo(t, period, rate); got < 8*period || got > 12*period {
		t.Errorf("the period was raised to %d ns, want about %d", got, 10*period)
	}
}

// steady is a counter of a clock's nanoseconds. Its reader loses its core before each reading but
// the first, and behind it.
type steady struct {
	from    time.Time
	read    int
	enough  func() // is called at the last reading
	periods []uint64
}

func (s *steady) ReadCount() (perf.Count, error) {
	const away, last = 10 * time.Millisecond, 6
	if s.read++; s.read > 1 {
		time.Sleep(away)
		defer time.Sleep(away)
	}
	if s.read == last {
		s.enough()
	}
	d := time.Since(s.from)
	return perf.Count{Value: uint64(d), Enabled: d}, nil
}

func (s *steady) UpdatePeriod(period uint64) error {
	s.periods = append(s.periods, period)
	return nil
}

// A sampler that loses its core between its readings takes no other rate for the real one.
func TestRateOfReadingsThatComeLate(t *testing.T) {
	const rate, due = 1000, 1_000_000 // of samples a second; ns between two of them
	for _, period := range []uint64{due / 10, due} {
		ctx, stop := context.WithCancel(t.Context())
		now := time.Now()
		s := &steady{from: now, enough: stop}
		keepTo(ctx, []counter{s, &steady{from: now, enough: stop}}, period, rate, func(uint64) {})
		switch {
		case period == due && len(s.periods) > 0, period < due && len(s.periods) != 1:
			t.Errorf("from %d the period was raised to %d, want %d", period, s.periods, due)
		case period < due && (s.periods[0] < due*99/100 || s.periods[0] > due*101/100):
			t.Errorf("from %d the period was raised to %d, want %d", period, s.periods[0], due)
		}
	}
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
