//go:build race

package job

// slowed: the race detector makes the code some six times slower.
const slowed = 10

// someRanks is how many ranks TestManyRanks merges. The test's limits are those of the run without
// the race detector. As many goroutines read few ranks as read many.
const someRanks = 200
