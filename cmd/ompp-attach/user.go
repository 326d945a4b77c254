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

// userFlags are the flags on user regions, and on constructs and operations to leave out.
type userFlags struct {
	functions []string
	regions   []string
	levels    []string
	disable   []string
	only      []string
	allMPI    bool
}

func (f *userFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.functions, "function", nil, "show executions of a function as a USER REGION: a `NAME`, a regular expression, or NAME@LIBRARY (repeatable)")
	c.Flags().StringArrayVar(&f.regions, "region", nil, "show lines of a function as a USER REGION: `LINES` is NAME=FILE:LINE-LINE (repeatable)")
	c.Flags().StringArrayVar(&f.levels, "level", nil, "show calls of a library's functions: `LEVEL` is NAME=LIBRARY, NAME=LIBRARY:REGEX or NAME=LIBRARY:!REGEX (repeatable)")
	c.Flags().StringSliceVar(&f.disable, "disable", nil, "leave out constructs, MPI operations, file:NAME or function:NAME: `LIST`, as in barrier,MPI_Test")
	c.Flags().StringSliceVar(&f.only, "only", nil, "measure parallel regions, and of all else only this `LIST` of constructs or MPI operations")
	c.Flags().BoolVar(&f.allMPI, "mpi-all", false, "measure also MPI calls that only look something up: a probe takes a hundred times as long")
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

// flagsText is the part of the help that says where the flags are described in full.
const flagsText = `
The manual page and docs/ say more of the flags: docs/levels.md of --level,
docs/timeline.md of --timeline, docs/waits.md of --waits, docs/budget.md of
--max-overhead. "ompp-attach man DIR" writes the manual pages.`

// manualText stands in the manual pages of run, attach and top, in place of flagsText.
var manualText = `

--function NAME shows the executions of a function as a USER REGION. A plain
name stands for itself, with or without its scope: solve is also Grid::solve,
and Grid:: is all functions in that scope. A name with a character that
regular expressions give a meaning, such as . or +, is a regular expression. It
may match any part of a function's name: demangled, with and without parameters,
or the symbol. ompp-attach searches the program and the program's own libraries.
NAME@LIBRARY asks for a library of the system. If a name is not found, a launched
program ends before it runs, unless it may load more libraries.

Calls that the compiler inlined are not seen. Some functions have no cheap
instruction for a probe: there the kernel single-steps an instruction, which
costs some 10 microseconds on virtual machines. --verbose names these functions.

--region NAME=FILE:LINE-FILE:LINE shows lines within one function as a USER
REGION. The second FILE may be left out. The region begins where control comes to
the first line, and ends where control leaves the lines. The program must be
compiled with -g.

--level NAME=LIBRARY shows the calls that other files make of a library's
functions, each at its call site, with the level's name: as in
--level blas=libopenblas. NAME=LIBRARY:REGEX takes the exported functions that
match, NAME=LIBRARY:!REGEX all others. So several levels may share a library.

Programs that include ompp.h mark regions by ompp_begin("name") and
ompp_end("name"), and switch measuring off and on by ompp_off() and ompp_on().

--disable and --only leave out constructs and operations of MPI. Their probes are
then not placed, and cost nothing. file:NAME and function:NAME hide the regions
in a file or function. The constructs are ` + strings.Join(selection.Selectors(), ", ") + `.

--mpi-all is for calls like MPI_Comm_rank and MPI_Wtime.

--counters takes perf's or PAPI's names of counters. The tool reads the counters
at the beginning and end of each region. Hardware counters are the default only
where the processor has a unit for them. --eval NAME=FORMULA takes numbers, counters,
EXECT (seconds, as measured), EXECC, + - * / and parentheses.

--timeline last:TIME keeps what came last, first:TIME what came first, from: and
for: a part of the run, worst:N the N longest executions of each region with what
was under way meanwhile. A size after a comma sets a cap, as in last:30s,256M.
report --format perfetto shows the executions. --when needs a timeline that is
kept in memory, as last:10s, and writes 10 snapshots at most.

With --max-overhead, constructs of which the probes cost more are observed in
periods only. The times of these constructs are extrapolated where possible.
Parallel regions, teams, target constructs and MPI calls are always observed.
If their probes alone cost more than the share, a message says so.

--sched also names the processes that had the cores.

--derive-edges derives from other events, instead of measuring, most startups
(libgomp) and shutdowns of short, frequent regions, and most ends of short,
frequent barriers. The report gives an interval with each such sum.`
