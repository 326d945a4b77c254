package perfetto

import (
	"fmt"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// workBins is the number of values of a process's counter.
const workBins = 1000

// working adds up, by bins of time, for how long the threads of a process were in regions and did
// not wait (ns of the engine's clock).
type working struct {
	from, to uint64
	width    uint64
	bins     [workBins]uint64
}

func newWorking(from, to uint64) *working {
	return &working{from: from, to: to, width: max(1, (to-min(from, to)+workBins-1)/workBins)}
}

// add adds a time of a thread.
func (w *working) add(from, to uint64) {
	for from = max(from, w.from); from < to; {
		bin := (from - w.from) / w.width
		if bin >= workBins {
			return
		}
		end := min(to, w.from+(bin+1)*w.width)
		w.bins[bin] += end - from
		from = end
	}
}

// works tells whether a thread works in a region's body.
func works(r *profile.Region) bool {
	switch r.Construct.Form().Overhead {
	case event.WholeSynch, event.WaitSynch, event.TasksSynch, event.CreationMgmt, event.TransferMgmt:
		return false
	}
	return r.Construct != event.MPI
}

// counter writes how many threads worked, as the mean of each bin.
func (p *process) counter(w *working) {
	if w.to <= w.from {
		return
	}
	track := p.uuid()
	at := p.file.Dictionary.Monotonic
	p.packets.track(track, p.track, fmt.Sprintf("threads at work (means of %s)", time.Duration(w.width)), trackCounter, nil)
	last := -1.0
	for i, ns := range w.bins {
		begin := w.from + uint64(i)*w.width
		if begin >= w.to {
			break
		}
		if mean := float64(ns) / float64(min(w.width, w.to-begin)); mean != last {
			p.value(track, at(begin), mean)
			last = mean
		}
	}
	p.value(track, at(w.to), 0)
}
