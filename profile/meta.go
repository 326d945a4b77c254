package profile

import (
	"time"

	"ompp-attach/mpi/clocks"
)

// Meta describes the measurement. Its groups are embedded: in the recorded profile, and for those
// who read a field, all fields stand side by side.
type Meta struct {
	Target
	Machine
	Life
	Writer
	Runtimes []Runtime `json:"runtimes"` // of OpenMP, that were probed
	Trust
	Gaps
	MPI *MPIJob `json:"mpi,omitempty"` // nil: the process did not use MPI
	Choices
	Expense
	// The program may create tasks, and tasks are not measured for its runtime.
	HasTasks bool `json:"has_tasks"`
}

// Target says which program was measured, as which process.
type Target struct {
	Program string   `json:"program"`        // base name of the executable
	Path    string   `json:"path"`           // the executable, as the process sees it
	Args    []string `json:"args,omitempty"` // the command line
	PID     int      `json:"pid"`
}

// Machine says where the process ran.
type Machine struct {
	Host   string `json:"host"`
	Kernel string `json:"kernel"` // uname -r
	Arch   string `json:"arch"`   // uname -m
	// CPUs are the processors on which threads of the process might run. Empty: not known, or an
	// older version recorded the profile.
	CPUs CPUs `json:"cpus,omitempty"`
	// Quota is how much processor time the control groups of the process allow. Nil: no limit, not
	// known, or an older version recorded the profile.
	Quota *Quota `json:"quota,omitempty"`
}

// Quota is a limit that a control group sets (cpu.max; cpu.cfs_quota_us of version 1).
type Quota struct {
	CPUs float64 `json:"cpus"` // processor time per elapsed time
	// Group is the control group's inode: processes of one group share the limit.
	Group uint64 `json:"group"`
}

// Life says from when on the process was measured, how long, and how its measurement ended.
type Life struct {
	Start    time.Time `json:"start"`       // when measurement of this process began
	Duration int64     `json:"duration_ns"` // wall time measured
	UserTime int64     `json:"user_ns"`     // process CPU time within the measurement, ns
	SysTime  int64     `json:"sys_ns"`      // the same in the kernel
	Attached bool      `json:"attached"`    // attached to a running process (not launched)
	// How measurement ended: "exit 0", "signal 9", "detached", ...; empty: it went on.
	Ended string `json:"ended"`
	// Exit is the exit status of the launched program, or 128+N if signal N killed it. 0 stands
	// for success, or for a status that is not known.
	Exit int `json:"exit,omitempty"`
	// Clock says which clock times were recorded by; nil: an older version recorded the profile.
	Clock *clocks.Record `json:"clock,omitempty"`
	// SnapshotAt is the time at which a snapshot's data ends; zero: the profile is whole.
	SnapshotAt time.Time `json:"snapshot_at,omitzero"`
}

// Writer says which version of ompp-attach recorded the profile.
type Writer struct {
	Tool  string `json:"tool"`            // the version
	Built string `json:"built,omitempty"` // commit date of that version
}

// Trust says how many hits of probes the figures rest on, and what the figures lack.
type Trust struct {
	Hits      uint64 `json:"hits"`           // probe hits delivered
	LostHits  uint64 `json:"lost_hits"`      // probe hits whose record was dropped
	Unmatched uint64 `json:"unmatched"`      // ends without a begin that were dropped
	Edges     Edges  `json:"edges,omitzero"` // ends of calls that were derived
	// Partial is the number of region instances seen only in part (under way at attach
	// or at the end).
	Partial uint64 `json:"partial"`
}

// Gaps say what of the run was not measured, because it was not to be.
type Gaps struct {
	// Off is how long, and how often, measurement was switched off; not part of the duration.
	Off     Sum      `json:"off,omitzero"`
	Stopped Stopped  `json:"stopped,omitzero"`   // stops of the process to place probes
	LeftOut []string `json:"left_out,omitempty"` // constructs that the user did not want to see
}

// Choices are what the user asked for beside regions.
type Choices struct {
	Counters []Counter `json:"counters,omitempty"` // in the order of ThreadStats.Counters
	// Evaluators are the user's formulas over the counters.
	Evaluators []string  `json:"evaluators,omitempty"`
	Sampling   *Sampling `json:"sampling,omitempty"` // nil: not sampled
	// nil: the measurement's cost was not limited.
	Budget *Budget       `json:"budget,omitempty"`
	Sched  *SchedRecords `json:"sched,omitempty"` // nil: the threads' cores were not watched
}

// Expense says how much the measurement cost, and which constructs were not observed to keep the
// cost low.
type Expense struct {
	// Observations list the constructs that were not observed all of the time.
	Observations []Observation `json:"observations,omitempty"`
	// Overhead is the cost; nil: an older version recorded the profile, without it.
	Overhead *Overhead `json:"overhead,omitempty"`
	// ToolTime is the processor time that ompp-attach itself took while it measured the process,
	// ns, for all processes together, but not while the process was stopped. Where threads lack
	// cores, they wait for the tool, too. 0: not known, or an older version recorded the profile.
	ToolTime int64 `json:"tool_ns,omitempty"`
	// Adjusted: the time that probes took has been taken out of all times (see
	// analysis.Adjust). Never recorded.
	Adjusted bool `json:"-"`
	// TakenOut is the time that analysis.Adjust took out of Duration, ns. Never recorded.
	TakenOut int64 `json:"-"`
}

// EndedAt returns when measurement of the process ended. Its duration leaves out the time in which
// measurement was switched off, or the process was stopped.
func (m *Meta) EndedAt() time.Time {
	return m.Start.Add(time.Duration(m.Duration + m.TakenOut + m.Off.T + m.Stopped.Total))
}

// Stopped says how often, and how long, the process was stopped to place probes. These times are
// part of no other time.
type Stopped struct {
	Times   uint64 `json:"times"`
	Total   int64  `json:"total_ns"`
	Longest int64  `json:"longest_ns"`
}

// Add counts one more stop of the given length in ns.
func (s *Stopped) Add(ns int64) {
	s.Times++
	s.Total += ns
	s.Longest = max(s.Longest, ns)
}

// Edges says of how many short and frequent calls the end was derived, and not measured. An end is
// the begin of a primary thread's body, the end of a barrier, or the join of a team.
type Edges struct {
	All     uint64 `json:"all"`     // of all such calls, also those that were measured in full
	Derived uint64 `json:"derived"` // whose end was derived
}

// Runtime is one OpenMP runtime found in the process.
type Runtime struct {
	Name string `json:"name"` // libgomp, libomp
	Path string `json:"path"`
	// As the library states it, otherwise deduced from its symbol versions.
	Version string   `json:"version,omitempty"`
	BuildID string   `json:"build_id,omitempty"`
	Probes  int      `json:"probes"`            // number of probes placed
	Missing []string `json:"missing,omitempty"` // probes that could not be placed, with the reason
}

// MPIJob is the place of a process in an MPI job.
type MPIJob struct {
	Library string `json:"library"`        // "Open MPI 4.1.4", "MPICH 4.0.2"
	Path    string `json:"path,omitempty"` // of the library
	Rank    int    `json:"rank"`           // in MPI_COMM_WORLD; -1 if not known
	Size    int    `json:"size"`           // of MPI_COMM_WORLD; 0 if not known
	Job     string `json:"job,omitempty"`  // the launcher's name of the job, if there is one
	// Thread level that MPI provided: "MPI_THREAD_FUNNELED"; empty if not seen.
	Level string `json:"level,omitempty"`
	// Why volumes are not known, as a whole sentence; empty if they are known.
	Volumes string `json:"volumes,omitempty"`
	// Left is when MPI_Init returned (CLOCK_MONOTONIC, ns); 0: that was not seen.
	Left int64 `json:"left,omitempty"`
}

// ClockName names the clock that times were recorded by (see the function ClockName).
func (m *Meta) ClockName() string { return ClockName(m.Clock, m.Host) }

// ClockName names the clock of a process on a host: the boot of a kernel. Processes with one name
// share a clock, whatever containers they are in. Where an older version recorded a profile, there
// is no record of the clock (nil), and the host's name has to do.
func ClockName(c *clocks.Record, host string) string {
	if c != nil && c.Boot != "" {
		return "boot " + c.Boot
	}
	return "host " + host
}
