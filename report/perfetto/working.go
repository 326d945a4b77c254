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
// not wait. Times are ns of the engine's clock.
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
	w.each(from, to, func(bin int, ns uint64) { w.bins[bin] += ns })
}

// each divides a time into the bins that it lies in.
func (w *working) each(from, to uint64, do func(bin int, ns uint64)) {
	for from = max(from, w.from); from < to; {
		bin := (from - w.from) / w.width
		if bin >= workBins {
			return
		}
		end := min(to, w.from+(bin+1)*w.width)
		do(int(bin), end-from)
		from = end
	}
}

// bin returns the bin in which a time lies.
func (w *working) bin(at uint64) int {
	return int(min((max(at, w.from)-w.from)/w.width, workBins-1))
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
	p.means(w, fmt.Sprintf("threads at work (means of %s)", time.Duration(w.width)), func(bin int) float64 { return float64(w.bins[bin]) })
}

// means writes a counter's track: the sum of each bin, divided by the bin's time (ns).
func (p *process) means(w *working, name string, sum func(bin int) float64) {
	track := p.uuid()
	at := p.file.Dictionary.Monotonic
	p.packets.track(track, p.track, name, trackCounter, nil)
	last := -1.0
	for i := range w.bins {
		begin := w.from + uint64(i)*w.width
		if begin >= w.to {
			break
		}
		if mean := sum(i) / float64(min(w.width, w.to-begin)); mean != last {
			p.value(track, at(begin), mean)
			last = mean
		}
	}
	p.value(track, at(w.to), 0)
}
