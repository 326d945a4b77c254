package mpi

import "slices"

var accountings = [NumAccountings]string{Minimal: "minimal", Naive: "naive"}

// String returns the accounting's name in the paper.
func (a Accounting) String() string {
	if a < NumAccountings {
		return accountings[a]
	}
	return "none"
}

// ParseAccounting is the inverse of Accounting.String; ok is false for an
// unknown name.
func ParseAccounting(s string) (a Accounting, ok bool) {
	i := slices.Index(accountings[:], s)
	return Accounting(max(i, 0)), i >= 0
}
