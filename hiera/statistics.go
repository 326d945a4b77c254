package hiera

import (
	"cmp"
	"slices"
	"strings"
)

// Statistics hold the tallies of all processes of a program.
type Statistics struct {
	Program   string // empty: not told
	Processes []*Tally
	// Added: the figures come from sums of operations. So single times and deviations are not
	// known, nor the order of levels.
	Added bool
	// Notes are sentences that the reader of the figures must know.
	Notes []string
}

// Sort orders the processes by rank.
func (s *Statistics) Sort() {
	slices.SortStableFunc(s.Processes, func(a, b *Tally) int { return cmp.Compare(a.Rank, b.Rank) })
}

// Depth returns the number of levels.
func (s *Statistics) Depth() (n int) {
	for _, t := range s.Processes {
		n = max(n, len(t.Levels))
	}
	return n
}

// Operations returns the number of executions of all processes.
func (s *Statistics) Operations() (n uint64) {
	for _, t := range s.Processes {
		n += t.Operations()
	}
	return n
}

// Row is a place with its figures.
type Row struct {
	Place
	*Figures
}

// ByPlace returns the figures of each call site over all processes, ordered as the paper's tables.
func (s *Statistics) ByPlace() []Row {
	all := map[Place]*Figures{}
	for _, t := range s.Processes {
		for at, f := range t.Places {
			addTo(all, at, f)
		}
	}
	return Rows(all)
}

// ByOperation returns the figures of each operation over all processes and call sites.
func (s *Statistics) ByOperation() []Row {
	all := map[Place]*Figures{}
	for _, t := range s.Processes {
		for at, f := range t.ByOperation() {
			addTo(all, at, f)
		}
	}
	return Rows(all)
}

// Rows orders figures by category (mpi first), operation, file and line.
func Rows(figures map[Place]*Figures) (rows []Row) {
	for at, f := range figures {
		rows = append(rows, Row{at, f})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(compareCategories(a.Category, b.Category), strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return rows
}

// Categories returns the categories of all operations: mpi, omp, oops, user, and then levels by
// name.
func (s *Statistics) Categories() []string {
	seen := map[string]bool{}
	for _, t := range s.Processes {
		for c := range t.Exclusive {
			seen[c] = true
		}
	}
	var all []string
	for c := range seen {
		all = append(all, c)
	}
	slices.SortFunc(all, compareCategories)
	return all
}

func compareCategories(a, b string) int {
	order := []string{MPI, OpenMP, OOPS, User}
	at := func(c string) int {
		if i := slices.Index(order, c); i >= 0 {
			return i
		}
		return len(order)
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), strings.Compare(a, b))
}

// Exclusive returns the time of a category that is in no inner operation, of all processes, ns.
func (s *Statistics) Exclusive(category string) (ns int64) {
	for _, t := range s.Processes {
		ns += t.Exclusive[category]
	}
	return ns
}

// Pair is what two processes exchanged: as the sender and as the receiver tells.
type Pair struct {
	From, To       int // ranks in MPI_COMM_WORLD; Elsewhere: another communicator, or any source
	Sent, Received Exchange
}

// Pairs returns the matrix of partners, without its empty cells, ordered by sender and receiver.
func (s *Statistics) Pairs() []Pair {
	type cell struct{ from, to int }
	all := map[cell]*Pair{}
	at := func(from, to int) *Pair {
		c := cell{from, to}
		if all[c] == nil {
			all[c] = &Pair{From: from, To: to}
		}
		return all[c]
	}
	for _, t := range s.Processes {
		for to, x := range t.Sent {
			at(t.Rank, to).Sent.Add(x)
		}
		for from, x := range t.Received {
			at(from, t.Rank).Received.Add(x)
		}
	}
	var pairs []Pair
	for _, p := range all {
		pairs = append(pairs, *p)
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return pairs
}

// Has tells whether there is a process of that rank. All processes together are -1.
func (s *Statistics) Has(rank int) bool {
	return rank == -1 || slices.ContainsFunc(s.Processes, func(t *Tally) bool { return t.Rank == rank })
}
