package bpf

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// CounterSource is where a performance counter's value comes from.
type CounterSource uint8

// The sources: a perf event, or a count that the kernel itself keeps for each thread.
// CountTaskClock is the time on a CPU in ns, the others are numbers of events.
const (
	CountEvent           = CounterSource(probeCounterSourceCOUNT_EVENT)
	CountTaskClock       = CounterSource(probeCounterSourceCOUNT_TASK_CLOCK)
	CountPageFaults      = CounterSource(probeCounterSourceCOUNT_PAGE_FAULTS)
	CountMinorFaults     = CounterSource(probeCounterSourceCOUNT_MINOR_FAULTS)
	CountMajorFaults     = CounterSource(probeCounterSourceCOUNT_MAJOR_FAULTS)
	CountContextSwitches = CounterSource(probeCounterSourceCOUNT_CONTEXT_SWITCHES)
	CountCPUMigrations   = CounterSource(probeCounterSourceCOUNT_CPU_MIGRATIONS)
)

// MaxCounters is the largest number of counters that can be read at each hit (shared.h).
const MaxCounters = 8

// Counters says which counters each record is to carry.
type Counters struct {
	Sources []CounterSource // at most MaxCounters
	// TakeTurns says that there are more events than the hardware counts at once. Then times in ns
	// follow the counts: for each event how long it counted, then how long the thread was on a CPU.
	TakeTurns bool
}

// words returns how many numbers of counters follow a record.
func (c *Counters) words() int {
	if c.TakeTurns {
		return 2*len(c.Sources) + 1
	}
	return len(c.Sources)
}

// configure sets up the programs for the counters. Without counters it removes the programs that
// only counters need.
func (c *Counters) configure(spec *ebpf.CollectionSpec) error {
	if len(c.Sources) == 0 {
		delete(spec.Programs, probeProgOnSwitch)
		delete(spec.Programs, probeProgOnThread)
		return nil
	}
	if len(c.Sources) > MaxCounters {
		return fmt.Errorf("%d counters: at most %d can be read", len(c.Sources), MaxCounters)
	}
	var sources [MaxCounters]uint8
	events := uint32(0)
	for i, s := range c.Sources {
		sources[i] = uint8(s)
		if s == CountEvent {
			events++
		}
	}
	turns := uint32(0)
	if c.TakeTurns {
		turns = 1
	}
	for name, v := range map[string]any{
		probeVarNumCounters: uint32(len(c.Sources)), probeVarCounterSources: sources, probeVarCounterEvents: events, probeVarCountersTakeTurns: turns,
	} {
		if err := spec.Variables[name].Set(v); err != nil {
			return err
		}
	}
	return nil
}

// eventsMap is the name of a counter's map of events, without the counter's number at its end.
const eventsMap = "counter_events_"

// SetEvent gives the i-th counter its perf event on a CPU. file is the event's file descriptor.
func (p *Probes) SetEvent(i, cpu, file int) error {
	if err := p.coll.Maps[eventsMap+strconv.Itoa(i)].Put(uint32(cpu), uint32(file)); err != nil {
		return fmt.Errorf("store the event of counter %d on CPU %d: %w", i, cpu, err)
	}
	return nil
}

// StartCounting begins to count for each thread. The events must have been set (SetEvent). Closing
// the result ends the counting.
func (p *Probes) StartCounting() (io.Closer, error) {
	var links closers
	for _, name := range []string{probeProgOnThread, probeProgOnSwitch} {
		l, err := link.AttachTracing(link.TracingOptions{Program: p.coll.Programs[name]})
		if err != nil {
			links.Close()
			return nil, fmt.Errorf("attach %s: %w", name, err)
		}
		links = append(links, l)
	}
	return links, nil
}
