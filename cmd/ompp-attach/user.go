package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect"
	"ompp-attach/collect/selection"
	"ompp-attach/collect/user"
)

// userFlags are the flags on user regions and on what is left out.
type userFlags struct {
	functions []string
	regions   []string
	levels    []string
	disable   []string
	only      []string
	allMPI    bool
}

func (f *userFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.functions, "function", nil, "show executions of this function as a USER REGION: a name, or a regular expression, with @LIBRARY for those of one library (repeatable)")
	c.Flags().StringArrayVar(&f.regions, "region", nil, "show these lines as a USER REGION: NAME=FILE:LINE-FILE:LINE or NAME=FILE:LINE-LINE (repeatable)")
	c.Flags().StringArrayVar(&f.levels, "level", nil, "show calls of a library's functions from outside of it as a level: NAME=LIBRARY, NAME=LIBRARY:REGEX, or NAME=LIBRARY:!REGEX for all other functions (repeatable)")
	c.Flags().StringSliceVar(&f.disable, "disable", nil, "constructs to leave out, which then cost nothing: "+strings.Join(selection.Selectors(), ", ")+"; an operation of MPI, like MPI_Barrier; or file:NAME, function:NAME for all constructs there")
	c.Flags().StringSliceVar(&f.only, "only", nil, "measure parallel regions, and of all else only these constructs or operations of MPI")
	c.Flags().BoolVar(&f.allMPI, "mpi-all", false, "measure also MPI calls that only look something up (MPI_Comm_rank, MPI_Wtime): a probe takes a hundred times as long as such a call")
}

// apply passes the flags to a measurement.
func (f *userFlags) apply(m *collect.Measurement, logf func(string, ...any), say func(string)) error {
	s, err := selection.New(f.disable, f.only)
	if err != nil {
		return cli.Misuse(err)
	}
	if f.allMPI {
		s.AllMPI()
	}
	m.Select(s)
	if !s.UserRegions() {
		return nil
	}
	u, err := user.New(f.functions, f.regions, logf)
	if err == nil {
		err = u.SetLevels(f.levels)
	}
	if err != nil {
		return cli.Misuse(err)
	}
	u.Notice = func(s string) {
		for _, line := range strings.Split(s, "\n") {
			say(line)
		}
	}
	m.SetUserRegions(u)
	return nil
}

// unfound returns an error that names the functions that were never found, or nil.
func unfound(res *collect.Result) error {
	if len(res.Unfound) == 0 {
		return nil
	}
	return errors.New(strings.Join(res.Unfound, "\nompp-attach: "))
}

// userText is what the manual pages say on user regions.
const userText = `
--function NAME shows the executions of a function as a USER REGION. A plain
name stands for itself, with or without its scope: solve is also Grid::solve,
and Grid:: is all functions in that scope. A name with one of \.+*?()|[]{}^$ is
a regular expression. It may match any part of a function's name: demangled,
with and without parameters, or the symbol. ompp-attach searches the program and
the program's own libraries. NAME@LIBRARY asks for a library of the system. If a
name is not found, a launched program ends before it runs, unless it may load
more libraries. Calls that the compiler inlined are not seen. Some functions have
no cheap instruction for a probe. There the kernel single-steps an instruction,
which costs some 10 microseconds on virtual machines. --verbose names these
functions.

--region NAME=FILE:LINE-FILE:LINE shows lines within one function as a USER
REGION. The region begins where control comes to the first line, and ends where
control leaves the lines. The program must be compiled with -g.

--level NAME=LIBRARY shows the calls that other files make of a library's
functions, each at its call site, with the level's name: as in
--level blas=libopenblas. NAME=LIBRARY:REGEX takes the exported functions that
match; so several levels may share a library (docs/levels.md).

Programs that include ompp.h mark regions by ompp_begin("name") and
ompp_end("name"), and switch measuring off and on by ompp_off() and ompp_on().

--disable and --only leave out constructs and operations of MPI. Their probes are
then not placed. file:NAME and function:NAME hide the regions in a file or
function. MPI calls that only look something up are measured with --mpi-all only.`
