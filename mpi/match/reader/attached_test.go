package reader_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/align"
	"ompp-attach/mpi/match/matchtest"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/reader"
)

// TestAttached: ranks are attached to at any moments. The results are compared with the truth of
// the programs.
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

// TestAttachedWildcards: a receive of an attached rank that does not tell its source makes waits
// unknown, never wrong. Messages with other tags are still matched.
func TestAttachedWildcards(t *testing.T) {
	receives, matched := uint64(0), uint64(0)
	for seed := range uint64(100) {
		m := matchtest.NewModel(seed)
		m.WithoutWindows()
		at := rand.New(rand.NewPCG(seed, 8))
		m.Since, m.Ended = make([]uint64, len(m.Now)), make([]bool, len(m.Now))
		for rank := range m.Since {
			m.Ended[rank] = true
			m.Since[rank] = at.Uint64N(m.Now[rank] / 2)
		}
		starts := align.Starts(m.AttachedLogs, nil)
		m.Unordered = slices.ContainsFunc(starts, func(s match.Start) bool { return !s.Known })
		want := m.Truth()
		for _, e := range m.Events {
			if c := m.Of(e); e.Kind == pattern.Message && !e.Send && at.IntN(400) == 0 {
				c.From = mpi.AnySource
			}
		}
		logs, backlog := m.AttachedLogs(), reader.CountBack(m.AttachedLogs)
		for i, l := range logs {
			l.Start, l.Backlog = starts[i], backlog
		}
		r := reader.Run(logs)
		for name, wait := range matchtest.Found(r) {
			if want[name] != wait {
				t.Fatalf("seed %d: %s: %d, not %d", seed, name, wait, want[name])
			}
		}
		if r.Receives.Left[match.Wildcard] > 0 {
			receives, matched = receives+r.Receives.Calls, matched+r.Receives.Matched
		}
	}
	if matched*3 < receives*2 { // it would be a half if messages with other tags were left out, too
		t.Errorf("%d of %d receives were matched", matched, receives)
	}
}
