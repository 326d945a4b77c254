package jobs

import (
	"testing"

	"ompp-attach/job"
)

// TestNodes: nodes are named with their ranks, as far as these are few spans.
func TestNodes(t *testing.T) {
	for want, hosts := range map[string][]string{
		"":                                  {"", ""},
		"a":                                 {"a", "a", "a"},
		"2: a (rank 0), b (ranks 1-2)":      {"a", "b", "b"},
		"2: a (ranks 0, 2), b (rank 1)":     {"a", "b", "a"},
		"2: a (3 ranks), b (ranks 1, 3)":    {"a", "b", "a", "b", "a"},
		"2: a (rank 0), not known (rank 1)": {"a", ""},
	} {
		j := &job.Job{}
		for i, h := range hosts {
			j.Ranks = append(j.Ranks, job.Rank{RankProcess: job.RankProcess{Rank: i, Host: h}})
		}
		if got := nodes(j); got != want {
			t.Errorf("%q: %q, not %q", hosts, got, want)
		}
	}
}
