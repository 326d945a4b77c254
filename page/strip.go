package page

import (
	"fmt"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// Limits of the strip on a page.
const (
	mostStripBins = 512
	mostStripRows = 128
)

// Strip says in which state each thread of the operating system was, over time. For a job, it says
// the same of each rank, or of some neighbouring ranks, as the mean of their threads.
type Strip struct {
	Width int64 `json:"width_ns"` // of a bin
	Bins  int   `json:"bins"`
	// Measured is the time for which measurement was on, ns.
	Measured int64 `json:"measured_ns"`
	// Off is the share of each bin for which measurement was switched off, as in StripRow.States.
	Off  []byte     `json:"off,omitempty"`
	Rows []StripRow `json:"rows"`
	More int        `json:"more,omitempty"` // threads that have no row
}

// StripRow is a thread, or some ranks.
type StripRow struct {
	Label string `json:"label"`
	// States holds for each state its share of each bin, in units of 1/255, rounded.
	States map[profile.State][]byte `json:"states"`
	Times  map[profile.State]int64  `json:"times"` // of each state, ns, rounded as the shares are
}

// stripOf returns the strip of a profile, or nil if the profile has none. If there are too many
// bins, it joins neighbouring ones.
func stripOf(p *profile.Profile) *Strip {
	s := p.Strip
	if s == nil || len(s.Rows) == 0 {
		return nil
	}
	by := (s.Bins + mostStripBins - 1) / mostStripBins
	out := &Strip{Width: s.Width * int64(by), Bins: (s.Bins + by - 1) / by, Measured: p.Meta.Duration + p.Meta.TakenOut, Off: joinBins(s.Off, by, s.Bins), Rows: []StripRow{}, More: s.More}
	for i := range s.Rows {
		if i == mostStripRows {
			out.More += len(s.Rows) - i
			break
		}
		r := &s.Rows[i]
		row := StripRow{Label: fmt.Sprintf("thread %d", r.TID), States: map[profile.State][]byte{}, Times: map[profile.State]int64{}}
		if r.Thread >= 0 {
			row.Label = fmt.Sprintf("thread %s (%d)", words.Thread(p.Threads[r.Thread]), r.TID)
		}
		for state, shares := range r.States {
			row.States[state] = joinBins(shares, by, s.Bins)
			for bin := range shares {
				row.Times[state] += int64(r.Share(state, bin) * float64(s.Width))
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// stripOfJob returns the strip of a job's ranks, or nil if there is none.
func stripOfJob(j *job.Job) *Strip {
	s := j.Strip
	if s == nil {
		return nil
	}
	out := &Strip{Width: s.Width, Bins: s.Bins, Measured: s.Width * int64(s.Bins), Rows: []StripRow{}}
	for i := range s.Rows {
		r := &s.Rows[i]
		row := StripRow{Label: fmt.Sprintf("rank %d", r.First), States: r.States, Times: r.Times}
		if r.Last > r.First {
			row.Label = fmt.Sprintf("ranks %d to %d", r.First, r.Last)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// joinBins joins each by neighbouring bins to one, with the mean of their shares. bins is the
// number of all bins; the share of bins behind the end of shares is 0.
func joinBins(shares []byte, by, bins int) (out []byte) {
	for at := 0; at < len(shares); at += by {
		sum := 0
		for _, v := range shares[at:min(at+by, len(shares))] {
			sum += int(v)
		}
		n := min(by, bins-at)
		out = append(out, byte((sum+n/2)/n))
	}
	return out
}
