//go:build !race

package job

// slowed is the factor by which limits of time are stretched.
const slowed = 1

// someRanks is how many ranks TestManyRanks merges.
const someRanks = 1000
