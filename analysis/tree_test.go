package analysis

import (
	"testing"

	"ompp-attach/profile"
)

// Threads without a known number count once. They do not count at all if they have another row.
func TestThreads(t *testing.T) {
	const unknown = profile.UnknownNum
	for _, c := range []struct {
		name string
		rows []profile.Thread
		want int
	}{
		{"none", nil, 1},
		{"a team", []profile.Thread{{Num: 0, TIDs: []int{7}}, {Num: 1, TIDs: []int{8}}, {Num: 2}}, 3},
		{"rows borne by one thread", []profile.Thread{{Num: 0, TIDs: []int{7}}, {Num: 1, TIDs: []int{7}}}, 2},
		{"attached in a region and never left it", []profile.Thread{{Num: 0, TIDs: []int{7}}, {Num: unknown, TIDs: []int{8, 9, 10}}}, 4},
		{"left it later", []profile.Thread{{Num: unknown, TIDs: []int{8, 9}}, {Num: 0, TIDs: []int{7}}, {Num: 1, TIDs: []int{8}}, {Num: 2, TIDs: []int{9}}}, 3},
		{"some did", []profile.Thread{{Num: unknown, TIDs: []int{8, 9}}, {Num: 0, TIDs: []int{7}}, {Num: 1, TIDs: []int{8}}}, 3},
		{"nothing but what the probes took", []profile.Thread{{Num: unknown}, {Num: 0, TIDs: []int{7}}}, 1},
	} {
		if got := Threads(&profile.Profile{Threads: c.rows}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Threads whose number is not known start no teams.
func TestRoots(t *testing.T) {
	const unknown = profile.UnknownNum
	for _, c := range []struct {
		name string
		rows []profile.Thread
		want int
	}{
		{"one team", []profile.Thread{{}, {Num: 1}}, 1},
		{"two threads with teams", []profile.Thread{{}, {Root: 1}, {Root: 1, Num: 1}}, 2},
		{"not the first one's, and one in a region", []profile.Thread{{Num: unknown}, {Root: 1}, {Root: 2}}, 2},
		{"nothing else", []profile.Thread{{Num: unknown}}, 1},
	} {
		if got := Roots(&profile.Profile{Threads: c.rows}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
