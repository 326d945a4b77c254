package perfcounters

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	perf "github.com/elastic/go-perf"
	"golang.org/x/sys/unix"
)

// Kind says what counts a counter.
type Kind uint8

// The kinds of counters.
const (
	Hardware Kind = iota // the processor's performance monitoring unit counts
	Software             // the kernel itself counts for each thread
)

// Counter is one event to be counted.
type Counter struct {
	Name        string // as the user writes it
	Description string
	Kind        Kind
	PMU         string // the kernel's name of the counting unit: "cpu", "armv8_pmuv3", "software"
	// The arguments for perf_event_open (linux/perf_event.h, struct perf_event_attr).
	Type                     uint32
	Config, Config1, Config2 uint64
	// UserOnly and KernelOnly say that events in the other mode are not counted.
	UserOnly, KernelOnly bool
	// Scale and Unit turn a count into a quantity (sysfs events/NAME.scale and .unit); 0 and "" for
	// a mere count.
	Scale float64
	Unit  string
}

// ErrUnknown says that a name is no counter. The message of an error that wraps it offers similar
// names.
var ErrUnknown = errors.New("unknown counter")

// Attr returns the attributes of the perf event that counts c.
func (c *Counter) Attr() *perf.Attr {
	a := &perf.Attr{
		Label: c.Name, Type: perf.EventType(c.Type),
		Config: c.Config, Config1: c.Config1, Config2: c.Config2,
	}
	a.CountFormat.Enabled, a.CountFormat.Running = true, true
	a.Options.ExcludeKernel, a.Options.ExcludeUser = c.UserOnly, c.KernelOnly
	a.Options.ExcludeHypervisor = c.UserOnly
	return a
}

// generic are the events that have the same names in perf on every machine (perf list, "Hardware
// event").
var generic = []struct {
	name, alias, description string
	config                   uint64
}{
	{"cycles", "cpu-cycles", "processor cycles", unix.PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", "", "instructions retired", unix.PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", "", "accesses to the last-level cache", unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", "", "misses of the last-level cache", unix.PERF_COUNT_HW_CACHE_MISSES},
	{"branches", "branch-instructions", "branch instructions retired", unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", "", "mispredicted branches", unix.PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", "", "bus cycles", unix.PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", "idle-cycles-frontend", "cycles in which no instruction could be issued", unix.PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", "idle-cycles-backend", "cycles in which nothing could retire", unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", "", "cycles at the nominal frequency", unix.PERF_COUNT_HW_REF_CPU_CYCLES},
}

// software are the events that the kernel counts for every thread, with or without a hardware unit.
// The kernel side reads them from the thread itself, not by a perf event, so they need no set-up.
var software = []struct {
	name, alias, description, unit string
	config                         uint64
}{
	{"task-clock", "", "time on a processor", "ns", unix.PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", "faults", "page faults", "", unix.PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", "cs", "switches to another thread", "", unix.PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", "migrations", "moves to another processor", "", unix.PERF_COUNT_SW_CPU_MIGRATIONS},
	{"minor-faults", "", "page faults that needed no input or output", "", unix.PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", "", "page faults that needed input or output", "", unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ},
}

// The parts of the names of hardware cache events (perf list, "Hardware cache event"), in the order
// of the kernel's numbers.
var (
	caches     = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	operations = []string{"load", "store", "prefetch"}
	plural     = []string{"loads", "stores", "prefetches"}
)

func cacheConfig(cache, op, result uint64) uint64 { return cache | op<<8 | result<<16 }

// Generic returns the events with names that are the same on every machine: hardware, cache, and
// software events.
func Generic() []Counter {
	var out []Counter
	for _, g := range generic {
		out = append(out, Counter{Name: g.name, Description: g.description, PMU: "cpu",
			Type: unix.PERF_TYPE_HARDWARE, Config: g.config})
	}
	for c, cache := range caches {
		for o := range operations {
			for r, name := range []string{cache + "-" + plural[o], cache + "-" + operations[o] + "-misses"} {
				out = append(out, Counter{Name: name, PMU: "cpu", Type: unix.PERF_TYPE_HW_CACHE,
					Description: fmt.Sprintf("%s: %s%s", cache, operations[o], []string{" accesses", " misses"}[r]),
					Config:      cacheConfig(uint64(c), uint64(o), uint64(r))})
			}
		}
	}
	for _, s := range software {
		out = append(out, Counter{Name: s.name, Description: s.description, Kind: Software, PMU: "software",
			Type: unix.PERF_TYPE_SOFTWARE, Config: s.config, Unit: s.unit})
	}
	return out
}

// aliases maps perf's second names of events to the first ones.
func aliases() map[string]string {
	m := map[string]string{}
	for _, g := range generic {
		m[g.alias] = g.name
	}
	for _, s := range software {
		m[s.alias] = s.name
	}
	delete(m, "")
	return m
}

// named finds an event of Generic by its name, in upper or lower case.
func named(name string) (Counter, bool) {
	if full, ok := aliases()[strings.ToLower(name)]; ok {
		name = full
	}
	all := Generic()
	i := slices.IndexFunc(all, func(c Counter) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return Counter{}, false
	}
	return all[i], true
}
