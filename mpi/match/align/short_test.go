package align_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	op      = matchtest.Op
	call    = matchtest.Call
	root    = matchtest.Root
	comm    = matchtest.Comm
	nothing = matchtest.Nothing
	anew    = matchtest.Anew
)
