package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"ompp-attach/collect"
	"ompp-attach/results"
	"ompp-attach/snapshots"
)

// The defaults of --snapshot and --snapshot-rest. So at most a minute of a measurement is lost, and
// snapshots take at most one per cent of a processor.
const (
	snapshotEvery = time.Minute
	snapshotRest  = 100
)

// pace returns the pace of snapshots that the flags ask for.
func (f *measureFlags) pace() snapshots.Pace {
	return snapshots.Pace{Replaced: f.snapshot, Kept: f.every, Rest: f.rest}
}

// dumpOnSignal writes a snapshot at each SIGUSR1, with the timeline that is kept in memory, until
// stop is called.
func (f *measureFlags) dumpOnSignal() (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-signals:
			}
			if name, err := f.keep(0); err != nil {
				f.say("no snapshot is written: " + err.Error())
			} else {
				f.say("snapshot: " + name)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(over)
	}
}

// snapshots writes snapshots of a measurement until stop is called. After stop no snapshot is being
// written.
func (f *measureFlags) snapshots(out *results.Directory, m *collect.Measurement) (stop func()) {
	w := snapshots.New(f.pace())
	m.OnDump(w.Keep)
	f.keep = w.Keep
	return w.Add(&snapshots.Program{To: out, Take: m.Snapshot, Whole: m.SnapshotWhole, Measures: m.Measures, Say: f.say, Logf: f.logf})
}
