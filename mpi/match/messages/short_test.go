package messages_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	call    = matchtest.Call
	world   = matchtest.World
	show    = matchtest.Show
	left    = matchtest.Left
	to      = matchtest.To
	from    = matchtest.From
	as      = matchtest.As
	of      = matchtest.Of
	comm    = matchtest.Comm
	thread  = matchtest.Thread
	nothing = matchtest.Nothing
	tells   = matchtest.Tells
	came    = matchtest.Came
)
