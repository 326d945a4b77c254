package perfetto

import (
	"bufio"
	"fmt"
	"io"

	"ompp-attach/timeline"
	"ompp-attach/timeline/flows"
)

// Suffix ends the name of a file in this format.
const Suffix = ".pftrace"

// Write writes the timelines of one or more processes into one trace. The times are CLOCK_MONOTONIC
// of the process's machine (ns). Spans that are damaged are missing; a gap stands for them, and
// damaged is told. The result says in sentences which flows cannot be told, and why. Other errors
// are those of w, and of timelines that cannot be read.
func Write(w io.Writer, of []*timeline.File, damaged func(*timeline.File, *timeline.DamageError)) (without []string, err error) {
	found, err := flows.Find(of)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriterSize(w, 1<<20)
	t := &trace{packets: newPackets(b), pids: map[uint64]bool{}, tids: map[uint64]bool{}, damaged: damaged, flows: found}
	t.put(nil, stateCleared)
	for _, f := range of {
		if err := t.process(f); err != nil {
			return nil, err
		}
	}
	if t.err == nil {
		t.err = b.Flush()
	}
	if t.err != nil {
		return nil, fmt.Errorf("write the trace: %w", t.err)
	}
	return found.Without, nil
}

// trace is a trace that is being written.
type trace struct {
	*packets
	uuids      uint64 // the last track's
	processes  uint64 // so far
	pids, tids map[uint64]bool
	damaged    func(*timeline.File, *timeline.DamageError)
	flows      *flows.Flows
}

// uuid returns the number of a new track.
func (t *trace) uuid() uint64 {
	t.uuids++
	return t.uuids
}

// unique returns a number that no other process or thread of the trace has. Processes of several
// machines may have the same numbers, and the viewer would take them for one process.
func unique(taken map[uint64]bool, n uint64) uint64 {
	const far = 10_000_000 // above all numbers of the kernel, whose greatest is 4,194,304
	for taken[n] {
		n += far
	}
	taken[n] = true
	return n
}
