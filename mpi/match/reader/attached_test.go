package reader_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/align"
	"ompp-attach/mpi/match/matchtest"
	"ompp-attach/mpi/match/reader"
)

// TestAttached compares what is said of ranks that were attached to at any moments with what their
// programs know.
func TestAttached(t *testing.T) {
	known, waits, messages := 0, 0, uint64(0)
	const programs = 400
	for seed := range uint64(programs) {
		m := matchtest.NewModel(seed)
		m.WithoutWindows()
		at := rand.New(rand.NewPCG(seed, 7))
		m.Since = make([]uint64, len(m.Now))
		for rank := range m.Since {
			m.Since[rank] = at.Uint64N(m.Now[rank] / 2)
			if seed%4 == 0 && rank > 0 {
				m.Since[rank] = m.Since[0] + at.Uint64N(3000) // some ms apart
			}
		}
		if seed%2 == 1 { // most are measured until they end
			m.Ended = make([]bool, len(m.Now))
			for rank := range m.Ended {
				m.Ended[rank] = at.IntN(20) > 0
			}
		}
		starts, backlog := align.Starts(m.AttachedLogs, nil), reader.CountBack(m.AttachedLogs)
		all := !slices.ContainsFunc(starts, func(s match.Start) bool { return !s.Known })
		if shift := m.Shift(starts); all && shift == "" {
			known++
		} else if shift != "" {
			t.Fatalf("seed %d: %s", seed, shift)
		}
		logs := m.AttachedLogs()
		for i, l := range logs {
			l.Start, l.Backlog = starts[i], backlog
		}
		m.Unordered = !all
		want, r := m.Truth(), reader.Run(logs)
		if got := matchtest.Found(r); !maps.Equal(got, want) {
			t.Fatalf("seed %d, %v:\ngot  %v\nwant %v", seed, starts, got, want)
		}
		waits += len(want)
		messages += r.Receives.Matched
		m.CheckAttached(t, r)
	}
	if known < programs*3/4 || waits < 2000 || messages < 5000 {
		t.Errorf("%d of %d programs were put in order, with %d waits; %d messages", known, programs, waits, messages)
	}
}
