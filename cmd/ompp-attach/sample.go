package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	perf "github.com/elastic/go-perf"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
)

// sampleFlags say how the program is sampled.
type sampleFlags struct {
	event  string // EVENT[:FREQ]; off
	period uint64
	asked  func() bool // tells whether the user gave any of these flags
}

// defaultRate is how often a running thread is sampled in a second. It is a prime, so that samples
// do not coincide with what programs and the kernel do every millisecond.
const defaultRate = 199

// sampleOff is the value of --sample for no samples.
const sampleOff = "off"

// The default events of the commands: launched programs are sampled, attached ones are not.
const (
	sampleLaunched = "task-clock"
	sampleAttached = sampleOff
)

// register adds the flags. event is the event by which is sampled if --sample is missing.
func (f *sampleFlags) register(c *cobra.Command, event string) {
	c.Flags().StringVar(&f.event, "sample", event, "sample call stacks by `EVENT[:FREQ]`: task-clock, cycles or another counter, FREQ times a second (199); off")
	f.asked = func() bool { return c.Flags().Changed("sample") || c.Flags().Changed("sample-period") }
	c.Flags().Uint64Var(&f.period, "sample-period", 0, "sample whenever EVENT was counted `N` times (task-clock: ns), not by frequency")
}

// check refuses an event by which samples cannot be taken.
func (f *sampleFlags) check() error {
	_, _, err := f.attr()
	return err
}

// attr returns the perf event to sample by, which is opened on every processor, and its description
// for the report. It returns nil for no samples.
func (f *sampleFlags) attr() (*perf.Attr, profile.Sampling, error) {
	var as profile.Sampling
	name, rate := f.event, uint64(defaultRate)
	if name == "" || name == sampleOff {
		return nil, as, nil
	}
	if base, last, ok := cutLast(name, ":"); ok {
		if n, err := strconv.ParseUint(last, 10, 32); err == nil {
			name, rate = base, n
			if n == 0 || f.period != 0 {
				return nil, as, fmt.Errorf("--sample %s: the frequency must be a number of samples per second above 0, and goes without --sample-period", f.event)
			}
		}
	}
	list, err := perfcounters.NewMachine(os.DirFS(unitsDir)).Parse(name)
	if err != nil {
		return nil, as, fmt.Errorf("--sample: %w", err)
	}
	if len(list) > 1 {
		return nil, as, fmt.Errorf("--sample %s: only one event can be sampled by", f.event)
	}
	c := &list[0]
	a := c.Attr()
	if c.Kind == perfcounters.Software {
		if c.Config != unix.PERF_COUNT_SW_TASK_CLOCK {
			return nil, as, fmt.Errorf("--sample %s: of what the kernel itself counts, only task-clock can be sampled by", f.event)
		}
		a.Config = unix.PERF_COUNT_SW_CPU_CLOCK // of a processor, whichever thread runs there
		// Units of arm64 refuse this flag and do not need it: they do not count when idle.
		a.Options.ExcludeIdle = true
	}
	a.Options.Disabled = true
	a.SampleFormat.Period = true
	as.Event, as.Unit = c.Name, c.Unit
	switch {
	case f.period != 0:
		a.SetSamplePeriod(f.period)
		as.Period = f.period
	case c.Kind == perfcounters.Software:
		as.Frequency = rate
		a.SetSamplePeriod(uint64(time.Second) / rate)
	default:
		as.Frequency = rate
		a.SetSampleFreq(rate)
	}
	return a, as, nil
}

// cutLast cuts at the last separator.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// apply makes a measurement sample. If sampling is impossible and the user did not ask for it, the
// measurement goes on without.
func (f *sampleFlags) apply(m *collect.Measurement, logf func(string, ...any)) error {
	err := f.start(m)
	if err != nil && !f.asked() {
		logf("not sampled: %v", err)
		return nil
	}
	return err
}

func (f *sampleFlags) start(m *collect.Measurement) error {
	a, as, err := f.attr()
	if err != nil || a == nil {
		return err
	}
	switch err := m.Sample(a, as); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("--sample %s: this machine does not count %s; --sample task-clock works everywhere", f.event, as.Event)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("--sample %s: not permitted to sample processors (%w): run as root, with CAP_PERFMON, or set /proc/sys/kernel/perf_event_paranoid to 0; --sample off does without", f.event, err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("--sample %s: the kernel refuses the event (%w); /proc/sys/kernel/perf_event_max_sample_rate bounds the frequency", f.event, err)
	case err != nil:
		return fmt.Errorf("--sample %s: %w", f.event, err)
	}
	return nil
}
