package windows_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	call      = matchtest.Call
	world     = matchtest.World
	show      = matchtest.Show
	comm      = matchtest.Comm
	with      = matchtest.With
	exclusive = matchtest.Exclusive
	shared    = matchtest.Shared
	sharedAll = matchtest.SharedAll
)
