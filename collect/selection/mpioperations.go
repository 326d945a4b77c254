package selection

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// mpiChoice says which MPI operations are wanted, beyond the selector mpi.
type mpiChoice struct {
	queries bool // operations that only look something up, too
	off, on map[mpi.Op]bool
}

// queriesLeftOut is the line in reports of MPI programs that says which calls were left out.
const queriesLeftOut = "MPI calls that only look something up, like MPI_Comm_rank and MPI_Wtime (--mpi-all)"

// AllMPI makes a selection include MPI operations that only look something up. Such calls take
// nanoseconds, and their probes a hundred times as long.
func (s *Selection) AllMPI() { s.mpi.queries = true }

// WantsMPI tells whether calls of an operation are measured.
func (s *Selection) WantsMPI(op mpi.Op) bool {
	switch {
	case s == nil || s.mpi.on[op] && !s.mpi.off[op]:
		return true
	case s.mpi.off[op] || s.hidden[event.MPI]:
		return false
	}
	return s.mpi.queries || !op.Info().Query
}

// WantsStarts tells whether calls that start persistent operations are measured.
func (s *Selection) WantsStarts() bool {
	return slices.ContainsFunc([]string{"MPI_Start", "MPI_Startall"}, func(name string) bool {
		op, ok := mpi.ParseOp(name)
		return ok && s.WantsMPI(op)
	})
}

// nameOp adds the MPI operation that a word names to a set. named is true for each word that begins
// with MPI_, also if there is no such operation.
func nameOp(flag, word string, set *map[mpi.Op]bool) (named bool, err error) {
	const prefix = "MPI_"
	if len(word) <= len(prefix) || !strings.EqualFold(word[:len(prefix)], prefix) {
		return false, nil
	}
	// Fortran's programmers write MPI_SEND: MPI's names have one capital letter.
	name := prefix + strings.ToUpper(word[4:5]) + strings.ToLower(word[5:])
	op, ok := mpi.ParseOp(word)
	if !ok {
		op, ok = mpi.ParseOp(name)
	}
	if !ok {
		return true, fmt.Errorf("%s %s: there is no such operation of MPI: write its name as in C, like MPI_Send", flag, word)
	}
	if *set == nil {
		*set = map[mpi.Op]bool{}
	}
	(*set)[op] = true
	return true, nil
}

// leftOut lists what was left out, for a profile's report.
func (s *Selection) leftOut(p *profile.Profile) []string {
	if p.Meta.MPI == nil || p.Meta.MPI.Library == "" || s.mpi.queries || s.hidden[event.MPI] {
		return s.text
	}
	return append(s.text[:len(s.text):len(s.text)], queriesLeftOut)
}
