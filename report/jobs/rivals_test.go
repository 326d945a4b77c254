package jobs

import (
	"testing"

	"ompp-attach/job"
)

func TestRivalNote(t *testing.T) {
	j := &job.Job{Ranks: []job.Rank{{RankTimes: job.RankTimes{ThreadTime: 10e9}},
		{RankProcess: job.RankProcess{Rank: 1}, RankTimes: job.RankTimes{ThreadTime: 10e9}}},
		Rivals: []job.Rival{{Name: "cc1", PID: 7, Host: "h", Rank: -1, T: 3e9, Robbed: 2, Most: 1, MostT: 2e9},
			{Name: "p", PID: 9, Host: "h", Rank: 0, T: 1e9, Robbed: 1, Most: 1, MostT: 1e9},
			{Name: "p", PID: 10, Host: "h", Rank: 1, T: 5e8, Robbed: 1, Most: 1, MostT: 5e8}}}
	want := "Cores for which threads of ranks were ready to run went to: cc1 (process 7 on h), 3.000 sec from 2 ranks, 2.000 sec of it from rank 1; " +
		"rank 0, 1.000 sec from rank 1; rank 1, 0.500 sec from threads of its own."
	if got := rivalNote(j); got != want {
		t.Errorf("%q", got)
	}
	j.Rivals = j.Rivals[2:]
	j.Rivals[0].T = 9e6 // less than LeastShare
	if got := rivalNote(j); got != "" {
		t.Errorf("%q", got)
	}
}
