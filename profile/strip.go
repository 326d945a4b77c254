package profile

// Strip tells in which state each thread of the operating system was, over time. The measured time
// is cut into bins of equal width. Times are as measured, with the time that the probes took. Of
// many short executions only some are noted, each for several.
type Strip struct {
	Width int64 `json:"width_ns"` // of a bin; the first one begins with the measurement
	Bins  int   `json:"bins"`     // how many there are: 2048 at most
	// Off is the share of each bin for which measurement was switched off, as in StripRow.States.
	Off  []byte     `json:"off,omitempty"`
	Rows []StripRow `json:"rows"`           // in order of the threads' first events
	More int        `json:"more,omitempty"` // threads that have no row, because there were too many
}

// StripRow is a thread of the operating system.
type StripRow struct {
	TID    int `json:"tid"`
	Thread int `json:"thread"` // index in Profile.Threads, of its first seat; -1: not known
	// States holds for each state its share of each bin, in units of 1/WholeBin, rounded. Bins
	// behind the last byte have no share. The rest of a bin is time outside of parallel regions,
	// tasks and calls.
	States map[State][]byte `json:"states"`
}

// WholeBin is the share of a state that fills a bin.
const WholeBin = 255

// State is what a thread did.
type State string

// The states of a strip.
const (
	StateWork    State = "work"    // in a parallel region or task, and in none of the states below
	StateBarrier State = "barrier" // in a barrier, or waiting for tasks
	StateLock    State = "lock"    // waiting to enter a critical or ordered section, or for a lock
	StateMPI     State = "mpi"     // in an MPI call
	// Startup and shutdown of regions, leaving of constructs, creating tasks.
	StateRuntime State = "runtime"
)

// Share returns a state's share of a bin of a thread, from 0 to 1.
func (r *StripRow) Share(s State, bin int) float64 { return share(r.States[s], bin) }

// OffShare returns the share of a bin for which measurement was switched off, from 0 to 1.
func (s *Strip) OffShare(bin int) float64 { return share(s.Off, bin) }

func share(of []byte, bin int) float64 {
	if bin < 0 || bin >= len(of) {
		return 0
	}
	return float64(of[bin]) / WholeBin
}

// mostBins bounds the bins of a strip.
const mostBins = 2048

// valid tells whether a strip that was read is one that could have been recorded.
func (s *Strip) valid(threads int) bool {
	if s == nil {
		return true
	}
	if s.Width <= 0 || s.Bins <= 0 || s.Bins > mostBins || len(s.Off) > s.Bins || s.More < 0 {
		return false
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Thread < -1 || r.Thread >= threads {
			return false
		}
		for _, shares := range r.States {
			if len(shares) > s.Bins {
				return false
			}
		}
	}
	return true
}
