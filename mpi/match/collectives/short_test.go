package collectives_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	call     = matchtest.Call
	world    = matchtest.World
	show     = matchtest.Show
	as       = matchtest.As
	of       = matchtest.Of
	comm     = matchtest.Comm
	attached = matchtest.Attached
)
