package matchtest

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// Run is reader.Run. Tests of the packages that the reader uses cannot import it themselves.
func Run(logs []*match.RankCalls) *match.Result { return reader.Run(logs) }

// RunAcross is reader.RunAcross.
func RunAcross(logs []*match.RankCalls, clocks match.Clocks) *match.Result {
	return reader.RunAcross(logs, clocks)
}
