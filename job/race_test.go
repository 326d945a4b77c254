//go:build race

package job

// slowed: the race detector makes the code some six times slower.
const slowed = 10
