package event

// OffCoreTime says that a thread was off its core. It got one again at the event's time.
type OffCoreTime struct {
	Off   uint64 `json:"off"`             // when it left its core: CLOCK_MONOTONIC, ns
	Woken uint64 `json:"woken,omitempty"` // when it was woken; 0: it was ready to run all the time
	// Of the time in which the thread was ready, how long threads of its own process had its core,
	// and how long those of others (ns). The rest is not known, or the core was idle.
	Own     int64 `json:"own,omitempty"`
	Foreign int64 `json:"foreign,omitempty"`
	// Rival is the process that had the core in the longest turn while the thread was ready,
	// and Had for how long in all its turns (ns). 0: not known, or the core was idle.
	Rival uint32 `json:"rival,omitempty"`
	Had   int64  `json:"had,omitempty"`
	Name  string `json:"name,omitempty"` // of that process
	// How often the thread was moved to another core meanwhile.
	Moves uint32 `json:"moves,omitempty"`
	// Events of this thread that were dropped before this one.
	Lost uint32 `json:"lost,omitempty"`
}

// IsHit tells whether an event with this edge is a hit of a probe, or several.
func (e Edge) IsHit() bool { return e != Sampled && e != NoCore && e != OffCore }
