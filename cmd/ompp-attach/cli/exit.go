package cli

// The tool's own exit statuses. If none of them applies, the command run passes on the program's
// status.
const (
	Failure   = 1   // the command failed
	BadUsage  = 2   // the arguments cannot be used as given
	CannotRun = 126 // as in shells: PROGRAM exists but cannot be executed
	NotFound  = 127 // as in shells: there is no PROGRAM
)

// Exit is an error that ends the tool with an exit status. If Err is not nil, its sentence is
// printed.
type Exit struct {
	Status int
	Err    error
}

// Error returns the sentence of Err, or "" without one.
func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap lets errors.Is and errors.As find Err.
func (e *Exit) Unwrap() error { return e.Err }

// Misuse gives an error the status BadUsage.
func Misuse(err error) *Exit { return &Exit{BadUsage, err} }
