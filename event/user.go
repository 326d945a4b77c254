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
