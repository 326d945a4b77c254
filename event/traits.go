package event

import "fmt"

// Traits are the properties of a construct that the packages of the tool ask for. To add a
// construct, add a row to the table below.
type Traits struct {
	Name  string // as in ompP's reports
	Short string // in the callgraph, where ompP has eight characters; empty: Name
	// Selector is the word by which --disable and --only name the construct; empty: the construct
	// is always measured.
	Selector string
	Sync     bool // --disable sync leaves the construct out too
	Group    Group
	// Fold: the kernel side adds up executions during which their thread reports nothing else
	// (bpf/fold.h). The construct begins and ends on one thread, whatever else the thread has
	// open. The engine matches its end with the innermost begin.
	Fold bool
	Form *Form // columns in reports, and overhead; nil for NoConstruct and ReductionBarrier
}

// Group is a set of constructs whose probes --max-overhead removes and places together, because
// they need each other's events. For example, a barrier ends GCC's single and static loops, and
// libomp's worksharing constructs.
type Group uint8

// The groups, in the order in which the budget considers them.
const (
	NoGroup Group = iota // always probed: teams, MPI, offloading
	GroupCritical
	GroupLock
	GroupAtomic
	GroupFlush
	GroupOrdered
	GroupSharing
	GroupTasks
	GroupUser
	// NumGroups is the number of groups. Behind GroupUser lie those of the
	// kinds of levels (LevelGroup).
	NumGroups = GroupUser + 1 + LevelKinds
)

// LevelGroup returns the group of a kind of levels, from 1 to LevelKinds.
func LevelGroup(kind int) Group { return GroupUser + Group(kind) }

var groupNames = [GroupUser + 1]string{"", "critical", "lock", "atomic", "flush", "ordered",
	"worksharing and barriers", "tasks", "user regions"}

// String returns the group's name for the user; empty for NoGroup. Who knows the levels of a group
// has a better name for it.
func (g Group) String() string {
	if g > GroupUser {
		return fmt.Sprintf("levels of kind %d", g-GroupUser)
	}
	return groupNames[g]
}

// GroupOf returns the group of an element of a set of constructs (Element).
func GroupOf(c Construct) Group {
	if c >= firstKind && c < firstKind+LevelKinds {
		return LevelGroup(int(c-firstKind) + 1)
	}
	return c.Traits().Group
}

// Constructs returns the constructs of the group, or its kind of levels.
func (g Group) Constructs() (s Constructs) {
	if g > GroupUser {
		return SetOf(firstKind + Construct(g-GroupUser-1))
	}
	for c := range numConstructs {
		if table[c].Group == g {
			s |= SetOf(c)
		}
	}
	return s
}

var table = [numConstructs]Traits{
	NoConstruct:       {Name: "NONE"},
	Parallel:          {Name: "PARALLEL", Form: team},
	ParallelLoop:      {Name: "PARALLEL LOOP", Form: team, Short: "PARLOOP"},
	ParallelSections:  {Name: "PARALLEL SECTIONS", Form: teamSections, Short: "PARSECTS"},
	ParallelWorkshare: {Name: "PARALLEL WORKSHARE", Form: team, Short: "PARWRKSH"},
	Teams:             {Name: "TEAMS", Form: league},
	Loop:              {Name: "LOOP", Form: share, Selector: "loop", Group: GroupSharing},
	Sections:          {Name: "SECTIONS", Form: sections, Selector: "sections", Group: GroupSharing},
	Single:            {Name: "SINGLE", Form: single, Selector: "single", Group: GroupSharing},
	Workshare:         {Name: "WORKSHARE", Form: share, Short: "WRKSHARE", Selector: "workshare", Group: GroupSharing},
	Scope:             {Name: "SCOPE", Form: share, Selector: "scope", Group: GroupSharing},
	Distribute:        {Name: "DISTRIBUTE", Form: whole, Short: "DISTRIB", Selector: "loop", Group: GroupSharing},
	Master:            {Name: "MASTER", Form: whole, Selector: "master", Group: GroupSharing},
	Masked:            {Name: "MASKED", Form: whole, Selector: "master", Group: GroupSharing},
	Critical:          {Name: "CRITICAL", Form: guard, Selector: "critical", Sync: true, Group: GroupCritical, Fold: true},
	Ordered:           {Name: "ORDERED", Form: guard, Selector: "ordered", Sync: true, Group: GroupOrdered, Fold: true},
	Lock:              {Name: "LOCK", Form: lock, Selector: "lock", Sync: true, Group: GroupLock, Fold: true},
	NestLock:          {Name: "NEST LOCK", Form: lock, Short: "NESTLOCK", Selector: "lock", Sync: true, Group: GroupLock, Fold: true},
	Barrier:           {Name: "BARRIER", Form: barrier, Selector: "barrier", Sync: true, Group: GroupSharing},
	Atomic:            {Name: "ATOMIC", Form: operation, Selector: "atomic", Sync: true, Group: GroupAtomic, Fold: true},
	Flush:             {Name: "FLUSH", Form: operation, Selector: "flush", Sync: true, Group: GroupFlush, Fold: true},
	Reduction:         {Name: "REDUCTION", Form: guard, Short: "REDUCTN", Selector: "reduction", Sync: true, Group: GroupSharing},
	Cancel:            {Name: "CANCEL", Form: cancellation, Selector: "cancel", Group: GroupSharing},
	CancellationPoint: {Name: "CANCELLATION POINT", Form: cancellation, Short: "CANCELPT", Selector: "cancel", Group: GroupSharing},
	Target:            {Name: "TARGET", Form: whole, Selector: "target"},
	TargetData:        {Name: "TARGET DATA", Form: deviceData, Short: "TGTDATA", Selector: "target"},
	TargetEnterData:   {Name: "TARGET ENTER DATA", Form: transfer, Short: "TGTENTER", Selector: "target"},
	TargetExitData:    {Name: "TARGET EXIT DATA", Form: transfer, Short: "TGTEXIT", Selector: "target"},
	TargetUpdate:      {Name: "TARGET UPDATE", Form: transfer, Short: "TGTUPDAT", Selector: "target"},
	Task:              {Name: "TASK", Form: creation, Selector: "task", Group: GroupTasks},
	TaskExec:          {Name: "TASKEXEC", Form: execution, Selector: "task", Group: GroupTasks},
	UntiedTask:        {Name: "UTASK", Form: creation, Selector: "task", Group: GroupTasks},
	UntiedTaskExec:    {Name: "UTASKEXEC", Form: parts, Short: "UTASKEXC", Selector: "task", Group: GroupTasks},
	TaskLoop:          {Name: "TASKLOOP", Form: taskLoop, Selector: "task", Group: GroupTasks},
	TaskWait:          {Name: "TASKWAIT", Form: taskWait, Selector: "task", Sync: true, Group: GroupTasks},
	TaskGroup:         {Name: "TASKGROUP", Form: taskGroup, Short: "TASKGRP", Selector: "task", Sync: true, Group: GroupTasks},
	TaskYield:         {Name: "TASKYIELD", Form: taskWait, Selector: "task", Group: GroupTasks},
	UserRegion:        {Name: "USER REGION", Form: whole, Short: "USERREG", Selector: "user_region", Group: GroupUser},
	MPI:               {Name: "MPI", Form: call, Selector: "mpi"},
	Unknown:           {Name: "UNDER WAY", Form: team, Short: "UNDERWAY"},
	ReductionBarrier:  {Name: "REDUCTION BARRIER", Group: GroupSharing},
}

// Traits returns the construct's row of the table; the zero value for an invalid number.
func (c Construct) Traits() Traits {
	if c >= numConstructs {
		return Traits{}
	}
	return table[c]
}

// FoldIndex numbers the constructs that may be folded, from 1. It returns 0 for the others.
func (c Construct) FoldIndex() uint8 {
	if c >= numConstructs {
		return 0
	}
	return foldIndex[c]
}

var foldIndex = func() (index [numConstructs]uint8) {
	n := uint8(0)
	for c := range numConstructs {
		if table[c].Fold {
			n++
			index[c] = n
		}
	}
	return index
}()
