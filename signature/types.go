// Package signature holds the signature of an application (Adhianto and Chapman, 2007). It tells
// what a run executed, independently of how long the runtime and MPI took for that. The paper's
// signature comes from a compiler and holds estimates; this one comes from a recorded run and holds
// counts. The data, how it is made of a job, its reader and its writer are here.
package signature

import (
	"encoding/json"

	"ompp-attach/event"
	"ompp-attach/model"
	"ompp-attach/profile"
)

// Version grows when a reader of the older version would misread the newer.
const Version = 1

// Signature is what a run executed; docs/efficiency.md describes its file.
type Signature struct {
	Version   int      `json:"version"`
	Tool      string   `json:"tool"`
	Program   string   `json:"program"`
	Arguments string   `json:"arguments"`
	Hosts     []string `json:"hosts,omitempty"` // sorted
	Library   string   `json:"mpi_library,omitempty"`
	UsesMPI   bool     `json:"uses_mpi,omitempty"`
	Size      int      `json:"mpi_size,omitempty"`
	Ranks     int      `json:"ranks"` // that were read
	// Further ranks; Times takes them to be as these.
	Missing    int      `json:"missing,omitempty"`
	Accounting string   `json:"accounting"`
	Estimated  []string `json:"estimated"`
	Threads    Spread   `json:"threads"`
	Runtime    Spread   `json:"runtime_ns"`
	Serial     Spread   `json:"serial_work_ns"`
	// CannotTell says why nothing can be told of the times; empty: they can be told.
	CannotTell string `json:"cannot_tell,omitempty"`
	// Times are what predictions start from, in seconds; nil: they cannot be told, or the file is
	// of an older version of the tool.
	Times *model.Measured `json:"times,omitempty"`
	// NoCore is the share of the threads' time without a core.
	NoCore  float64  `json:"no_core"`
	Inside  []Inner  `json:"inside,omitempty"` // directly in the program
	Regions []Region `json:"regions"`
	Calls   []Call   `json:"calls"`
	Notes   []string `json:"notes"`
}

// Spread is a figure over ranks. Ranks without it count with 0.
type Spread struct {
	Sum    json.Number `json:"sum"`
	Min    int64       `json:"min"`
	Mean   float64     `json:"mean"`
	Max    int64       `json:"max"`
	StdDev float64     `json:"stddev"`
}

// Region is a construct at a place. Its times are ns, its counts are summed over threads.
type Region struct {
	Region     int              `json:"region"`
	Construct  event.Construct  `json:"construct"`
	Name       string           `json:"name,omitempty"`
	Location   profile.Location `json:"location"`
	Reached    int              `json:"reached"` // ranks
	Executions Spread           `json:"executions"`
	Bodies     Spread           `json:"bodies"`
	Work       Spread           `json:"work_ns"`
	// Threads of the largest team, of parallel regions.
	Team     int               `json:"team,omitempty"`
	Starts   uint64            `json:"starts,omitempty"` // of parallel regions: teams, of all ranks
	Counters map[string]Spread `json:"counters,omitempty"`
	Inside   []Inner           `json:"inside,omitempty"`
}

// Inner is a construct or call directly in a region, with its executions there.
type Inner struct {
	Region     int   `json:"region"`
	Executions int64 `json:"executions"`
}

// Call is an MPI call site.
type Call struct {
	Region       int              `json:"region"`
	Operation    string           `json:"operation"`
	Location     profile.Location `json:"location"`
	Communicates bool             `json:"communicates"`
	Reached      int              `json:"reached"` // ranks
	Calls        Spread           `json:"calls"`
	Sends        Spread           `json:"sends"`
	Receives     Spread           `json:"receives"`
	Collectives  Spread           `json:"collectives"`
	Sent         Spread           `json:"sent_bytes"`
	Received     Spread           `json:"received_bytes"`
	// The call's bytes; absent: it moves none, or none are known.
	Bytes   *CallBytes `json:"bytes,omitempty"`
	Unknown Spread     `json:"unknown,omitzero"` // calls whose bytes are not known
	// Sizes are the messages by size, over all ranks; absent: there were none, or none are known.
	Sizes *profile.BySize `json:"sizes,omitempty"`
}

// CallBytes are the bytes of a call.
type CallBytes struct {
	Min  uint64  `json:"min"`
	Mean float64 `json:"mean"`
	Max  uint64  `json:"max"`
}
