package match

// Listener is told of the calls of ranks while they are matched. Ranks are named by the index of
// their logs. Calls of a rank are numbered from 0, by their beginnings.
type Listener interface {
	// Took tells a rank's next call. c is valid until Took returns.
	Took(rank int, c *Call)
	// Pending tells that a call waits for others. Known follows once they are known.
	Pending(rank, call int)
	// Known tells the last event for which a call had to wait.
	Known(rank, call int, last Origin)
	// Together tells that no rank left its call before the last rank had entered its own. calls are
	// the numbers of these calls, by rank.
	Together(calls []int, last Origin)
}

// Origin is the last event for which a call had to wait: some rank entered a call.
type Origin struct {
	Rank, Call int
	// When, by the clock of the rank that waited (ns); 0: the call waited for nobody.
	At      uint64
	Bound   int64 // how wrong At may be, because clocks of machines were compared (ns)
	Unsure  bool  // another event may have been the last one, within Bound
	Unknown bool  // it is not known for what the call waited
}
