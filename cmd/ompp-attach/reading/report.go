package reading

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/properties"
	"ompp-attach/report/tables"
	"ompp-attach/results"
)

// reportFlags say what the user wants to see of a results directory.
type reportFlags struct {
	formats []string // empty: the default for what the directory holds
	dir     string   // where files are written; empty: beside the profiles; "-": standard output
	rank    int      // rank of a job; -1: all ranks
	delta   string   // two snapshots, see openWindow; empty: whole profiles
	view    cli.View
	table   tableFlag

	properties propertyFlags

	efficiency bool // the efficiency of the run instead of the reports
}

func reportCommand() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Write reports from recorded profiles, without measuring again",
		Long: `report writes the reports of the profiles in DIR again. If these are of the
ranks of an MPI job, report prints one report over all ranks.

Begin with --properties: it says what costs time, and what helps. --efficiency
and --by print other views of the same figures.

Reports are files beside the profiles, or in the directory that -o names. The
text of a job or of a rank (--rank) goes to standard output unless -o is given.

The formats of --format:

    of a process or rank: ` + results.FormatNames() + `
    of a job:             ` + results.JobFormatNames() + `
    of --properties:      ` + strings.Join(properties.Names(), ", ") + `
    of --efficiency:      ` + efficiencies.Names() + `
    of --by:              ` + strings.Join(tables.Formats, ", ") + `
    of timelines:         ` + perfettoFormat + `, firefox, xml`,
		Annotations: map[string]string{cli.Manual: reportText},
		Example: `  ompp-attach report --format ompp ompp-solver-4711
  ompp-attach report DIR
  ompp-attach report --rank 3 DIR
  ompp-attach report --format json -o - DIR
  ompp-attach report --efficiency DIR
  ompp-attach report --properties DIR
  ompp-attach report --by construct DIR
  ompp-attach report --format perfetto DIR
  ompp-attach report --delta 2 5 DIR`,
		Args: func(c *cobra.Command, args []string) error {
			most := 1
			if f.delta != "" {
				most = 2
			}
			return cli.Needed(most, "which directory? give one that run or attach has written")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("rank") && f.rank < 0 {
				return cli.Misuse(fmt.Errorf("--rank %d: ranks are numbered from 0", f.rank))
			}
			if f.delta != "" {
				return reportWindow(args, &f)
			}
			return rereport(args[0], &f)
		},
	}
	f.view.Register(c)
	f.table.register(c)
	f.properties.register(c)
	c.Flags().StringSliceVar(&f.formats, "format", nil, "what to write: a `LIST` of the formats above")
	c.Flags().BoolVar(&f.efficiency, "efficiency", false, "how much of the threads' time was useful, what took the rest, and POP's and TALP's metrics")
	c.Flags().StringVarP(&f.dir, "output", "o", "", "write files to this `DIR`; - writes a single file to standard output")
	c.Flags().StringVar(&f.delta, "delta", "", "report the time between two snapshots, `N M`; 0 is the beginning, end the final profile")
	c.Flags().IntVar(&f.rank, "rank", -1, "report this `RANK` of a job by itself")
	cli.HideDefault(c, "rank")
	return c
}

// reportText is the part of the help that only the manual page has.
const reportText = `

Without --format, report writes ompp, pprof, samples and html of a process or
rank, text and html of a job, and text of all else.

A job's report says whether the processes behave alike, where they differ, which
figures go with the differences, and where overheads come from. Its last lines
name the profiles that could not be read. report fails only if it could read
none. profile.html and job.html are pages for the browser.

--eval NAME=FORMULA takes numbers, counters, EXECT (seconds, as measured), EXECC,
+ - * / and parentheses. --property NAME: COMPARISON compares two such formulas;
its time is that of the call paths where the comparison holds.

--by path tells the call paths of regions, --by construct is TAU's
construct-based profile, and --by property has EXPERT's idle threads.`

func rereport(dir string, f *reportFlags) error {
	results.Await(dir, cli.Warn)
	if f.wantsEfficiency() {
		return reportEfficiency(dir, f)
	}
	if f.timelineFormat() != "" {
		return reportTimeline(dir, f)
	}
	if f.table.by != "" {
		return reportTable(dir, f)
	}
	if f.properties.wanted() {
		return reportProperties(dir, f)
	}
	ranks, others, err := results.FindRanks(dir)
	if err != nil {
		return err
	}
	switch {
	case len(ranks) > 0 && f.rank >= 0:
		return reportRank(dir, ranks, f)
	case len(ranks) > 0:
		return reportJob(dir, ranks, others, f)
	case f.rank >= 0:
		return noRanks(dir)
	}
	return reportProcesses(dir, f)
}

func noRanks(dir string) error {
	return cli.Misuse(fmt.Errorf("%s holds no rank's profile (profile.rank<R>%s): leave out --rank", dir, results.RecordSuffix))
}

// reportProcesses writes the reports of each profile in a directory anew.
func reportProcesses(dir string, f *reportFlags) error {
	formats := f.formats
	if len(formats) == 0 {
		formats = results.DefaultFormats
	}
	if err := results.CheckFormats(formats); err != nil {
		return cli.Misuse(fmt.Errorf("%w, and of recorded timelines %s, firefox, xml", err, perfettoFormat))
	}
	names := files.Matching(dir, "profile*"+results.RecordSuffix)
	if len(names) == 0 {
		return fmt.Errorf("%s holds no recorded profile (%s): give a directory that run or attach has written", dir, results.RecordName)
	}
	if f.dir == "-" && len(formats) == 1 && len(names) == 1 && !isTree(formats[0]) {
		p, err := results.ReadProfile(names[0])
		if err != nil {
			return err
		}
		stem := strings.TrimSuffix(filepath.Base(names[0]), results.RecordSuffix)
		return writeReport(os.Stdout, p, formats[0], withTimeline(f.view.Options(), dir, stem, formats))
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		p, err := results.ReadProfile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		stem := strings.TrimSuffix(filepath.Base(name), results.RecordSuffix)
		errs = append(errs, reportOne(to, stem, p, formats, withTimeline(f.view.Options(), dir, stem, formats)))
	}
	return errors.Join(errs...)
}

// reportOne writes a profile's reports to files, and prints the files' names.
func reportOne(dir, stem string, p *profile.Profile, formats []string, o report.Options) error {
	if err := cli.CheckFormulas(o.Evaluators, report.CounterNames(p)); err != nil {
		return err
	}
	files, err := results.RenderAll(dir, stem, p, formats, o)
	for _, f := range files {
		cli.TellFile(f)
	}
	var reason syscall.Errno
	if errors.As(err, &reason) {
		return fmt.Errorf("%w; give another directory with -o", err)
	}
	return err
}

// reportDirectory returns the directory for the reports' files: the one that the user wants (-o),
// or else dir.
func reportDirectory(dir, wanted string) (string, error) {
	switch wanted {
	case "":
		return dir, nil
	case "-":
		return "", cli.Misuse(errors.New("-o - takes one report that is one file; give a directory for several"))
	}
	root, _, err := results.OpenDirectory(wanted, false)
	if err != nil {
		return "", fmt.Errorf("cannot make the reports' directory: %w", err)
	}
	return wanted, root.Close()
}
