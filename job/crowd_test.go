package job

import "testing"

// A job has as many threads as lived at a time.
func TestCrowdsOfBriefThreads(t *testing.T) {
	for time, want := range map[int64]int{2000: 0, 2001: 3, 9000: 9} {
		j := &Job{Ranks: []Rank{{RankProcess: RankProcess{CPUs: "0-1", Threads: 9}, RankTimes: RankTimes{Wall: 1000, ThreadTime: time}}}}
		got := 0
		for _, c := range j.Crowds(func(*Rank) bool { return true }) {
			got += c.Threads
		}
		if got != want {
			t.Errorf("%d ns of threads in 1000: a crowd of %d, want %d", time, got, want)
		}
	}
}
