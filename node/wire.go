package node

import "ompp-attach/collect/launch"

// Request is the first message of a rank's tool to the collector.
type Request struct {
	PID     int // launched, does not run yet
	Rank    launch.Rank
	Program string   // path
	Flags   []string // of the command line, as given
	Dir     string   // directory to which relative paths refer
}

// reply is a message of the collector: any number of Say, then Followed or Over. When the program
// has ended, the tool sends a launch.Ending, and the collector answers with Over.
type reply struct {
	Say      string `json:",omitempty"` // for the user
	Followed bool   `json:",omitempty"` // the program may start
	Dir      string `json:",omitempty"` // with Followed: the directory of the results
	Over     *Over  `json:",omitempty"`
}

// Over is the outcome for a rank: the tool's exit status, and a sentence if there is something to
// tell. It is the error of a rank that is refused.
type Over struct {
	Status   int
	Sentence string
}

// Error implements error.
func (o *Over) Error() string { return o.Sentence }
