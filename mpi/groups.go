package mpi

// GroupRule says which processes are in a group that an operation makes.
type GroupRule uint8

// The rules.
const (
	// The members are not known here: the group is the remote one of an intercommunicator, or that
	// of a file or a session.
	Unlisted      GroupRule = iota
	Everyone                // all of a communicator or window
	Included                // those whose ranks in Of are listed
	Excluded                // all of Of but those listed
	IncludedRange           // as Included: the list has first, last and stride of ranges
	ExcludedRange           // as Excluded, likewise
	Joined                  // those in Of, then those in With only
	Common                  // those that are both in Of and in With
	Without                 // those of Of that are not in With
)

// Grouping describes an operation that makes a group of processes, or takes one.
type Grouping struct {
	Rule GroupRule
	// Result is the argument that points to the group that is made. Of is the group that the
	// call takes, With a second one. List points to an array of ranks with Number elements.
	// None: there is no such argument.
	Result, Of, With, List, Number int8
}

// Groups returns how the operation makes or takes a group; ok is false if it does neither.
func (op *Operation) Groups() (g Grouping, ok bool) {
	g, ok = groupings[op.Name]
	return g, ok
}

// Ints returns how many ints an element of List has.
func (g *Grouping) Ints() int {
	if g.Rule == IncludedRange || g.Rule == ExcludedRange {
		return 3
	}
	return 1
}

var groupings = map[string]Grouping{
	"MPI_Comm_group":              {Everyone, 1, None, None, None, None},
	"MPI_Win_get_group":           {Everyone, 1, None, None, None, None},
	"MPI_Group_incl":              {Included, 3, 0, None, 2, 1},
	"MPI_Group_excl":              {Excluded, 3, 0, None, 2, 1},
	"MPI_Group_range_incl":        {IncludedRange, 3, 0, None, 2, 1},
	"MPI_Group_range_excl":        {ExcludedRange, 3, 0, None, 2, 1},
	"MPI_Group_union":             {Joined, 2, 0, 1, None, None},
	"MPI_Group_intersection":      {Common, 2, 0, 1, None, None},
	"MPI_Group_difference":        {Without, 2, 0, 1, None, None},
	"MPI_Comm_remote_group":       {Unlisted, 1, None, None, None, None},
	"MPI_File_get_group":          {Unlisted, 1, None, None, None, None},
	"MPI_Group_from_session_pset": {Unlisted, 2, None, None, None, None},
	"MPI_Win_post":                {Unlisted, None, 0, None, None, None},
	"MPI_Win_start":               {Unlisted, None, 0, None, None, None},
}
