//go:build !race

package job

// slowed is by how much a limit of time is to be stretched.
const slowed = 1
