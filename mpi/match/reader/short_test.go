package reader_test

import "ompp-attach/mpi/match/matchtest"

// Short names, so that a case is a line.
var (
	op, call, world, logOf, show, left = matchtest.Op, matchtest.Call, matchtest.World, matchtest.LogOf, matchtest.Show, matchtest.Left
	to, from, root, as, of, comm, with = matchtest.To, matchtest.From, matchtest.Root, matchtest.As, matchtest.Of, matchtest.Comm, matchtest.With
	thread, nothing, sendsOnly         = matchtest.Thread, matchtest.Nothing, matchtest.SendsOnly
	tells, came, attached, anew        = matchtest.Tells, matchtest.Came, matchtest.Attached, matchtest.Anew
	exclusive, shared, sharedAll       = matchtest.Exclusive, matchtest.Shared, matchtest.SharedAll
)
