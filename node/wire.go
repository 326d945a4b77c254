package node

import "ompp-attach/collect/launch"

// Request is the first message that a rank's tool sends to the collector.
type Request struct {
	PID     int // of the program, which was launched but does not run yet
	Rank    launch.Rank
	Program string   // path
	Flags   []string // of the command line, as given
	Dir     string   // directory to which relative paths refer
}

// reply is a message of the collector. There can be any number of Say, at most one Followed, and
// one Over at the end. After Followed, the tool sends a launch.Ending when the program has ended,
// and the collector answers with Over.
type reply struct {
	Say      string `json:",omitempty"` // for the user
	Followed bool   `json:",omitempty"` // the program may start
	Dir      string `json:",omitempty"` // with Followed: the directory of the results
	Over     *Over  `json:",omitempty"`
}

// Over is the outcome for a rank: the tool's exit status, and a sentence if there is something to
// say. If the collector refuses a rank, Over is the rank's error.
type Over struct {
	Status   int
	Sentence string
}

// Error implements error.
func (o *Over) Error() string { return o.Sentence }
