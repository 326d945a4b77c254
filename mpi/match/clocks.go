package match

// Clocks compares times of several machines' clocks. Hosts are named as in the logs.
type Clocks interface {
	// Comparable reports whether times of two hosts can be compared.
	Comparable(a, b string) bool
	// Convert translates the time t of the clock of one host (from) to the clock of another (to).
	// bound is how wrong the result may be at most (ns).
	Convert(to, from string, t uint64) (at uint64, bound int64)
}

// Across counts the waits for ranks of other machines. These times are as exact as the comparison
// of the machines' clocks.
type Across struct {
	Waits       uint64
	T, Bound    int64  // time of these waits, and how wrong T may be at most, ns
	Widest      int64  // the greatest bound of a wait, ns
	Untold      uint64 // calls that may have waited or not: the bound exceeds the wait
	NoLatecomer uint64 // waits of which it is not known which rank was last
}
