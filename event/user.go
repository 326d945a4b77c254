package event

// What begins and ends a UserRegion: the Value of its events.
const (
	UserFunction = iota // a function: its frames lie on the stack
	UserLines           // lines of the source, within one function
	UserMarker          // markers that the program's author set
	// UserJump is the end of a function by a jump whose destination is not
	// known: it is one only if the function's frame is gone.
	UserJump
	// UserLinesAgain is an entry into lines to which control also comes from
	// inside, by a loop.
	UserLinesAgain
)
