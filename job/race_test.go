//go:build race

package job

// slowed is larger here: the race detector makes the code some six times slower.
const slowed = 10

// someRanks is how many ranks TestManyRanks merges. The limits of the test matter in runs without
// the race detector. Few ranks are read by as many goroutines as many ranks.
const someRanks = 200
