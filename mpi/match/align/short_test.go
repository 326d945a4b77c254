package align_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	op, call, root = matchtest.Op, matchtest.Call, matchtest.Root
	comm, nothing  = matchtest.Comm, matchtest.Nothing
	anew           = matchtest.Anew
)
