package event

// The kinds of a UserRegion's events: their Value.
const (
	UserFunction = iota // a function: each execution has a stack frame
	UserLines           // lines of the source, within one function
	UserMarker          // markers that the program's author has set
	// UserJump is a jump out of a function whose destination is not known. It ends the function
	// only if the function's stack frame is gone.
	UserJump
	// UserLinesAgain is an entry into lines to which a loop may also return from inside.
	UserLinesAgain
)

// UserLevel and the values after it are those of functions of libraries' levels, one for each
// level. Fn names the function, and Site is where the call returns to. An event of an end is of
// whichever function of the level has its stack frame there.
const UserLevel = 16

// MaxLevels is the number of levels that events can tell apart.
const MaxLevels = 200

// UserContinues is added to the Value of the beginning of a function to which others of its library
// may jump: then it continues an execution.
const UserContinues = 1 << 8
