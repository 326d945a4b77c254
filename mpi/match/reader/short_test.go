package reader_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	op        = matchtest.Op
	call      = matchtest.Call
	world     = matchtest.World
	show      = matchtest.Show
	left      = matchtest.Left
	to        = matchtest.To
	from      = matchtest.From
	root      = matchtest.Root
	as        = matchtest.As
	of        = matchtest.Of
	comm      = matchtest.Comm
	thread    = matchtest.Thread
	nothing   = matchtest.Nothing
	sendsOnly = matchtest.SendsOnly
	tells     = matchtest.Tells
	came      = matchtest.Came
	attached  = matchtest.Attached
	anew      = matchtest.Anew
)
