package cli

// The tool's own exit statuses. The command run passes on the program's status otherwise.
const (
	Failure   = 1
	BadUsage  = 2
	CannotRun = 126 // as in shells: PROGRAM exists but cannot be executed
	NotFound  = 127 // as in shells: there is no PROGRAM
)

// Exit is an error that ends the tool with an exit status. If Err is not nil, its sentence is
// printed.
type Exit struct {
	Status int
	Err    error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// Misuse gives an error the status BadUsage.
func Misuse(err error) *Exit { return &Exit{BadUsage, err} }
