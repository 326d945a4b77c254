package perfcounters

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	perf "github.com/elastic/go-perf"
	"golang.org/x/sys/unix"
)

// Check tells whether the counter counts on this machine, by counting for the calling thread. The
// error is a sentence that says why not, and what to do.
func (c *Counter) Check() error {
	if c.Kind == Software {
		return nil // the kernel counts these for each thread
	}
	ev, err := open(c, nil)
	if err != nil {
		return c.explain(err)
	}
	return ev.Close()
}

func open(c *Counter, group *perf.Event) (*perf.Event, error) {
	a := c.Attr()
	a.Options.Disabled = group == nil
	return perf.Open(a, perf.CallingThread, perf.AnyCPU, group)
}

func (c *Counter) explain(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s: this machine's processor, or what virtualises it, does not count that: %w", c.Name, err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("%s: not permitted: %s: %w", c.Name, paranoid(), err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%s: the kernel does not accept this event: check its numbers: %w", c.Name, err)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("%s: too many open files: raise the limit (ulimit -n): %w", c.Name, err)
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}

// paranoid says which value kernel.perf_event_paranoid has and needs
// (Documentation/admin-guide/perf-security.rst).
func paranoid() string {
	const need = "run as root or with CAP_PERFMON, or set kernel.perf_event_paranoid to -1 (sysctl -w kernel.perf_event_paranoid=-1)"
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return need
	}
	level, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return need
	}
	return fmt.Sprintf("kernel.perf_event_paranoid is %d; %s", level, need)
}

// Groups divides hardware counters into groups. The processor counts the counters of a group at the
// same time. More than one group take turns, and their counts are scaled by the share of time in
// which they counted. The error says which counter cannot be counted.
func Groups(counters []Counter) ([][]Counter, error) {
	return groups(counters, func(set []Counter) error {
		var leader *perf.Event
		for i := range set {
			ev, err := open(&set[i], leader)
			if err != nil {
				return err
			}
			defer ev.Close()
			if leader == nil {
				leader = ev
			}
		}
		return nil
	})
}

// groups puts each counter into the first group that accepts it. A group refuses a counter if it is
// full: perf_event_open then returns EINVAL or ENOSPC (kernel/events/core.c, validate_group of each
// unit). A counter that cannot be counted alone is an error.
func groups(counters []Counter, try func([]Counter) error) (out [][]Counter, err error) {
next:
	for _, c := range counters {
		if c.Kind == Software {
			continue
		}
		for i, g := range out {
			if try(append(g[:len(g):len(g)], c)) == nil {
				out[i] = append(g, c)
				continue next
			}
		}
		if err := try([]Counter{c}); err != nil {
			return nil, c.explain(err)
		}
		out = append(out, []Counter{c})
	}
	return out, nil
}

// Defaults returns the counters that are measured if the user names none: those of the processor.
// There are none if the processor has no unit that counts, as in most virtual machines. What the
// kernel counts tells little and costs time, so the user has to ask for it. If there is such a unit
// and it cannot be used, why is a sentence that says why.
func (m Machine) Defaults() (list []Counter, why string) {
	for _, n := range []string{"cycles", "instructions", "cache-misses", "branch-misses"} {
		c, _ := named(n)
		if err := c.Check(); err != nil {
			if why == "" {
				why = err.Error()
			}
			continue
		}
		list = append(list, c)
	}
	if len(list) > 0 || !m.HasHardware() {
		return list, ""
	}
	return nil, why
}

// Evaluators returns formulas that are useful wherever their counters are measured.
func Evaluators(counters []Counter) (out []*Formula) {
	var names []string
	for i := range counters {
		names = append(names, counters[i].Name)
	}
	for _, text := range []string{
		"IPC=instructions/cycles",
		"GHz=cycles/EXECT/1e9",
		"cacheMPKI=cache-misses/instructions*1000",
		"branchMPKI=branch-misses/instructions*1000",
		// A miss of the last-level cache moves a line of 64 bytes. Prefetches are not counted, so
		// this is a lower bound.
		"GB/s~=cache-misses*64/EXECT/1e9",
		"CPUs=task-clock/EXECT/1e9",
	} {
		if f, err := ParseFormula(text, names); err == nil {
			out = append(out, f)
		}
	}
	return out
}
