package main

import (
	"os"
	"runtime"

	perf "github.com/elastic/go-perf"

	"ompp-attach/bpf"
	"ompp-attach/perfcounters"
)

// fourEvents are four perf events: the hardware's, or the time-stamp counter,
// which virtual machines have, by four names.
func fourEvents() (list string, counters []perfcounters.Counter, err error) {
	m := perfcounters.NewMachine(os.DirFS("/sys/bus/event_source/devices"))
	list = "tsc,msr/tsc/,msr/event=0/,msr/config=0/"
	if m.HasHardware() {
		list = "cycles,instructions,cycles:u,instructions:u"
	}
	counters, err = m.Parse(list)
	return list, counters, err
}

// countingConfigs adds the configurations with counters.
func countingConfigs(c *configs, p *process, library string, points []bpf.Point, dir string) (undo func(), err error) {
	with := func(list string) func() (func() error, error) {
		return func() (func() error, error) {
			stop, _, err := attachTool(p.cmd.Process.Pid, dir, "--counters", list)
			return stop, err
		}
	}
	c[kernels] = with("task-clock,page-faults,context-switches,cpu-migrations")
	list, counters, err := fourEvents()
	if err != nil {
		return func() {}, nil // there are none: the columns stay empty
	}
	c[events] = with(list)
	var open []*perf.Event
	reading, err := bpf.LoadReadingProbe(len(counters), func(k *bpf.Probes) error {
		for i := range counters {
			for cpu := range runtime.NumCPU() {
				ev, err := perf.Open(counters[i].Attr(), perf.AllThreads, cpu, nil)
				if err != nil {
					return err
				}
				open = append(open, ev)
				fd, err := ev.FD()
				if err != nil {
					return err
				}
				if err := k.SetEvent(i, cpu, fd); err != nil {
					return err
				}
			}
		}
		return nil
	})
	closeAll := func() {
		for _, ev := range open {
			ev.Close()
		}
	}
	if err != nil {
		closeAll()
		return nil, err
	}
	c[reads] = func() (func() error, error) {
		l, err := reading.Attach(library, p.cmd.Process.Pid, points, false)
		if err != nil {
			return nil, err
		}
		return l.Close, nil
	}
	return func() { reading.Close(); closeAll() }, nil
}
