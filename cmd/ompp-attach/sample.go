package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/elastic/go-perf"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/collect/sampling"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
)

// sampleFlags say how the program is sampled.
type sampleFlags struct {
	event  string // EVENT[:FREQ]; off
	period uint64
	asked  func() bool // tells whether the user gave any of these flags
}

// The default events of the commands: launched programs are sampled, attached ones are not.
const (
	sampleLaunched = "task-clock"
	sampleAttached = sampling.Off
)

// register adds the flags. event is the default of --sample.
func (f *sampleFlags) register(c *cobra.Command, event string) {
	c.Flags().StringVar(&f.event, "sample", event, "sample call stacks by `EVENT[:FREQ]`: task-clock or a counter, FREQ (199) times a second; or off")
	f.asked = func() bool { return c.Flags().Changed("sample") || c.Flags().Changed("sample-period") }
	c.Flags().Uint64Var(&f.period, "sample-period", 0, "sample each time that EVENT was counted `N` times (task-clock: ns), not by frequency")
}

// attr returns the perf event to sample by, and its description. The event is nil for no samples.
func (f *sampleFlags) attr() (*perf.Attr, profile.Sampling, error) {
	return sampling.Parse(perfcounters.NewMachine(os.DirFS(unitsDir)), f.event, f.period)
}

// check refuses an event by which samples cannot be taken.
func (f *sampleFlags) check() error {
	_, _, err := f.attr()
	return err
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
		return fmt.Errorf("--sample %s: not permitted (%w): run as root or with CAP_PERFMON, set /proc/sys/kernel/perf_event_paranoid to 0, or say --sample off", f.event, err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("--sample %s: the kernel refuses the event (%w); /proc/sys/kernel/perf_event_max_sample_rate bounds the frequency", f.event, err)
	case err != nil:
		return fmt.Errorf("--sample %s: %w", f.event, err)
	}
	return nil
}
