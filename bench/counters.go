package main

import (
	"os"
	"runtime"
	"slices"

	perf "github.com/elastic/go-perf"

	"ompp-attach/bench/baseline"
	"ompp-attach/perfcounters"
)

// kernelCounters are what the kernel counts of each thread. The tool reads them only if asked.
const kernelCounters = "task-clock,page-faults,context-switches,cpu-migrations"

// fourPerfEvents are four perf events: the hardware's, or the time-stamp counter,
// which virtual machines have, by four names.
func fourPerfEvents() (list string, counters []perfcounters.Counter, err error) {
	m := perfcounters.NewMachine(os.DirFS("/sys/bus/event_source/devices"))
	list = "tsc,msr/tsc/,msr/event=0/,msr/config=0/"
	if m.HasHardware() {
		list = "cycles,instructions,cycles:u,instructions:u"
	}
	counters, err = m.Parse(list)
	return list, counters, err
}

// addCounters adds the ways with counters, if one of the operations is to be
// measured with them.
func addCounters(by *[numWays]*means, p *process, ops group, placed []baseline.Placed, probe *baseline.Probe, dir string, undo *func()) error {
	if !slices.ContainsFunc(ops, func(op operation) bool { return op.counted }) {
		return nil
	}
	with := func(list string) func() (func() error, error) {
		return func() (func() error, error) {
			stop, _, err := attachTool(p.pid(), dir, "--counters", list)
			return stop, err
		}
	}
	place := func(probe *baseline.Probe) func() (func() error, error) {
		return func() (func() error, error) {
			l, err := probe.AttachEntries(placed, p.pid())
			if err != nil {
				return nil, err
			}
			return l.Close, nil
		}
	}
	by[counting] = &means{on: p, begin: with(kernelCounters)}
	list, counters, err := fourPerfEvents()
	if err != nil {
		return nil // there are none: the columns stay empty
	}
	reading, closeEvents, err := readingProbe(counters)
	if err != nil {
		return err
	}
	before := *undo
	*undo = func() { before(); reading.Close(); closeEvents() }
	by[fourEvents] = &means{on: p, begin: with(list)}
	by[entries] = &means{on: p, begin: place(probe)}
	by[reads] = &means{on: p, begin: place(reading)}
	return nil
}

// readingProbe is a probe that does nothing but read the counters' events.
func readingProbe(counters []perfcounters.Counter) (*baseline.Probe, func(), error) {
	var events []*perf.Event
	closeAll := func() {
		for _, ev := range events {
			ev.Close()
		}
	}
	reading, err := baseline.LoadReading(len(counters))
	if err != nil {
		return nil, nil, err
	}
	open := func(i, cpu int) error {
		ev, err := perf.Open(counters[i].Attr(), perf.AllThreads, cpu, nil)
		if err != nil {
			return err
		}
		events = append(events, ev)
		fd, err := ev.FD()
		if err != nil {
			return err
		}
		return reading.SetEvent(i, cpu, fd)
	}
	for i := range counters {
		for cpu := range runtime.NumCPU() {
			if err := open(i, cpu); err != nil {
				closeAll()
				reading.Close()
				return nil, nil, err
			}
		}
	}
	return reading, closeAll, nil
}
