package counting

import (
	"fmt"
	"io"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
)

// Counters holds the performance counters that a measurement reads.
type Counters struct {
	counters []profile.Counter // in the order in which the user asked for them
	column   []int             // by counter: its index in an event; -1: it cannot be counted
	wanted   []perfcounters.Counter
	kernel   bpf.Counters
	events   [][]*perf.Event // by counter of the kernel side, then one for each CPU
	stop     io.Closer
	formulas []string
}

var softwareSources = map[uint64]bpf.CounterSource{
	unix.PERF_COUNT_SW_TASK_CLOCK:       bpf.CountTaskClock,
	unix.PERF_COUNT_SW_PAGE_FAULTS:      bpf.CountPageFaults,
	unix.PERF_COUNT_SW_PAGE_FAULTS_MIN:  bpf.CountMinorFaults,
	unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ:  bpf.CountMajorFaults,
	unix.PERF_COUNT_SW_CONTEXT_SWITCHES: bpf.CountContextSwitches,
	unix.PERF_COUNT_SW_CPU_MIGRATIONS:   bpf.CountCPUMigrations,
}

// New finds out which of the wanted counters can be counted here.
func New(wanted []perfcounters.Counter) *Counters {
	c := &Counters{}
	for i := range wanted {
		w := &wanted[i]
		counter, source := profile.Counter{Name: w.Name, Unit: w.Unit}, bpf.CountEvent
		if w.Kind == perfcounters.Software {
			source = softwareSources[w.Config]
		}
		if err := w.Check(); err != nil {
			counter.Failed = strings.TrimPrefix(err.Error(), w.Name+": ")
			c.column = append(c.column, -1)
		} else {
			c.column = append(c.column, len(c.wanted))
			c.wanted = append(c.wanted, *w)
			c.kernel.Sources = append(c.kernel.Sources, source)
		}
		c.counters = append(c.counters, counter)
	}
	if groups, err := perfcounters.Groups(c.wanted); err == nil && len(groups) > 1 {
		c.kernel.TakeTurns = true
	}
	return c
}

// Start opens the events on every CPU. The kernel side attributes their counts to threads.
func (c *Counters) Start(k *bpf.Probes) error {
	if len(c.wanted) == 0 {
		return nil
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return fmt.Errorf("count the CPUs: %w", err)
	}
	c.events = make([][]*perf.Event, len(c.wanted))
	for i := range c.wanted {
		if c.kernel.Sources[i] != bpf.CountEvent {
			continue
		}
		var failed error
		for cpu := range cpus {
			ev, err := perf.Open(c.wanted[i].Attr(), perf.AllThreads, cpu, nil)
			if err != nil { // the CPU is offline, or of a type without this event
				failed = err
				continue
			}
			c.events[i] = append(c.events[i], ev)
			fd, err := ev.FD()
			if err != nil {
				return fmt.Errorf("counter %s: %w", c.wanted[i].Name, err)
			}
			if err := k.SetEvent(i, cpu, fd); err != nil {
				return err
			}
		}
		if len(c.events[i]) == 0 {
			return fmt.Errorf("counter %s: %w", c.wanted[i].Name, failed)
		}
	}
	c.stop, err = k.StartCounting()
	return err
}

// KernelSide returns what the kernel side has to count.
func (c *Counters) KernelSide() bpf.Counters { return c.kernel }

// Close closes the events.
func (c *Counters) Close() {
	if c == nil {
		return
	}
	if c.stop != nil {
		c.stop.Close()
	}
	for _, events := range c.events {
		for _, ev := range events {
			ev.Close()
		}
	}
}

// running is the share of the time in which a counter really counted. In the rest, other users of
// the hardware counters may have had the counter.
func (c *Counters) running(i int) float64 {
	var enabled, ran float64
	for _, ev := range c.events[i] {
		if n, err := ev.ReadCount(); err == nil {
			enabled, ran = enabled+float64(n.Enabled), ran+float64(n.Running)
		}
	}
	const always = 0.999 // the first moments lie before the measurement
	if enabled == 0 || ran >= always*enabled {
		return 1
	}
	return ran / enabled
}

// Complete scales a profile's counts to the whole time, and puts the counters in the order in which
// they were asked for.
func (c *Counters) Complete(p *profile.Profile) {
	if c == nil {
		return
	}
	share := make([]float64, len(c.wanted))
	if c.kernel.TakeTurns {
		share = profile.ScaleTurns(p, len(c.wanted))
	} else {
		for i := range share {
			share[i] = c.running(i)
		}
		profile.ScaleCounters(p, share)
	}
	profile.SpreadCounters(p, c.column)
	p.Meta.Counters = append([]profile.Counter(nil), c.counters...)
	p.Meta.Evaluators = c.formulas
	for i, from := range c.column {
		if from >= 0 && share[from] > 0 && share[from] < 1 {
			p.Meta.Counters[i].Running = share[from]
		}
	}
}

// Numbers describes the numbers that an event carries. column is the index of each counter in the
// event; -1: the counter cannot be counted. turns is how many counters take turns. ok is false if
// nothing is counted.
func (c *Counters) Numbers() (counters []profile.Counter, column []int, turns int, ok bool) {
	if c == nil || len(c.wanted) == 0 {
		return nil, nil, 0, false
	}
	if c.kernel.TakeTurns {
		turns = len(c.wanted)
	}
	return c.counters, c.column, turns, true
}

// Notes tells which counters cannot be counted and why, and whether the counts are estimates
// because counters take turns.
func (c *Counters) Notes() (out []string) {
	if c == nil {
		return nil
	}
	for _, counter := range c.counters {
		if counter.Failed != "" {
			out = append(out, counter.Name+": "+counter.Failed)
		}
	}
	if c.kernel.TakeTurns {
		out = append(out, "these are more counters than the processor counts at once: they take turns, and their counts are scaled; `ompp-attach counters LIST` tells what fits")
	}
	return out
}

// Any tells whether counters of the hardware are read.
func (c *Counters) Any() bool { return c != nil && len(c.events) > 0 }

// Evaluate makes the profiles record formulas over the counters.
func (c *Counters) Evaluate(formulas []string) {
	if c != nil {
		c.formulas = formulas
	}
}

// Check refuses more counters than a record can carry (bpf.MaxCounters).
func Check(list []perfcounters.Counter) error {
	if len(list) > bpf.MaxCounters {
		return fmt.Errorf("%d counters, and at most %d can be read at once: measure the others in another run", len(list), bpf.MaxCounters)
	}
	return nil
}
