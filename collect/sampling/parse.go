package sampling

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"ompp-attach/perfcounters"
	"ompp-attach/profile"
)

// DefaultRate is how often a running thread is sampled in a second. It is a prime, so that samples
// do not coincide with what programs and the kernel do every millisecond.
const DefaultRate = 199

// Off is the value of --sample for no samples.
const Off = "off"

// Parse reads the value of --sample, EVENT[:FREQ] or off, for a machine. A period that is not 0
// stands for the frequency: a sample is taken whenever the event was counted so many times. Parse
// returns the perf event to sample by, which is opened on every processor, and its description for
// the report; nil for no samples.
func Parse(m perfcounters.Machine, text string, period uint64) (*perf.Attr, profile.Sampling, error) {
	var as profile.Sampling
	name, rate := text, uint64(DefaultRate)
	if name == "" || name == Off {
		return nil, as, nil
	}
	if base, last, ok := cutLast(name, ":"); ok {
		if n, err := strconv.ParseUint(last, 10, 32); err == nil {
			name, rate = base, n
			if n == 0 || period != 0 {
				return nil, as, fmt.Errorf("--sample %s: the frequency must be a number of samples per second above 0, and goes without --sample-period", text)
			}
		}
	}
	list, err := m.Parse(name)
	if err != nil {
		return nil, as, fmt.Errorf("--sample: %w", err)
	}
	if len(list) > 1 {
		return nil, as, fmt.Errorf("--sample %s: only one event can be sampled by", text)
	}
	c := &list[0]
	a := c.Attr()
	if c.Kind == perfcounters.Software {
		if c.Config != unix.PERF_COUNT_SW_TASK_CLOCK {
			return nil, as, fmt.Errorf("--sample %s: of what the kernel itself counts, only task-clock can be sampled by", text)
		}
		a.Config = unix.PERF_COUNT_SW_CPU_CLOCK // of a processor, whichever thread runs there
		// Units of arm64 refuse this flag and do not need it: they do not count when idle.
		a.Options.ExcludeIdle = true
	}
	a.Options.Disabled = true
	a.SampleFormat.Period = true
	as.Event, as.Unit = c.Name, c.Unit
	switch {
	case period != 0:
		a.SetSamplePeriod(period)
		as.Period = period
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
