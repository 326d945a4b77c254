package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/properties"
	"ompp-attach/results"
	"ompp-attach/severity"
)

// propertyFlags are the flags that ask for the run's time by property.
type propertyFlags struct {
	tree bool
	own  []string // properties that the user defines
}

func (f *propertyFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.tree, "properties", false, "what costs time, worst first: property, call path, threads, what helps, and what that saves at most")
	c.Flags().StringArrayVar(&f.own, "property", nil, "a `PROPERTY` of your own for --properties, as in 'LowIPC: instructions/cycles < 0.5' (repeatable)")
}

func (f *propertyFlags) wanted() bool { return f.tree || len(f.own) > 0 }

// severityOptions returns the options of a report on profiles with the given counters.
func (f *reportFlags) severityOptions(counters []string) (report.Options, error) {
	o := f.view.Options()
	for _, text := range f.properties.own {
		c, err := report.ParseCondition(text, counters)
		if err != nil {
			return o, cli.Misuse(err)
		}
		if slices.ContainsFunc(o.Conditions, func(x severity.Condition) bool { return x.Name == c.Name }) {
			return o, cli.Misuse(fmt.Errorf("--property %s is given twice: give each a name of its own", c.Name))
		}
		o.Conditions = append(o.Conditions, c)
	}
	return o, nil
}

// reportProperties writes the properties of the job in a directory, of one of its ranks, or of each
// process if there is no job. The text goes to standard output unless -o is given.
func reportProperties(dir string, f *reportFlags) error {
	formats := f.formats
	if len(formats) == 0 {
		formats = properties.Names()[:1]
	}
	for _, n := range formats {
		if _, ok := properties.Named(n); !ok {
			return cli.Misuse(fmt.Errorf("unknown format %q; with --properties there are %s", n, strings.Join(properties.Names(), ", ")))
		}
	}
	runs, err := readSeverities(dir, f)
	if err != nil {
		return err
	}
	plain := f.dir == "" || f.dir == "-"
	if plain && (len(formats) > 1 || len(runs) > 1 && formats[0] != properties.Formats[0].Name) {
		return errManyTables
	}
	var errs []error
	for _, r := range runs {
		if plain && len(runs) > 1 {
			fmt.Printf("%s:\n", cli.Pasteable(r.stem))
		}
		for _, n := range formats {
			format, _ := properties.Named(n)
			write := func(w io.Writer) error { return format.Write(w, r.cube, r.options.Properties(r.cube)) }
			if plain {
				errs = append(errs, write(os.Stdout))
				continue
			}
			errs = append(errs, saveProperties(f.dir, r.stem, n, write))
		}
	}
	return errors.Join(errs...)
}

// saveProperties writes a run's properties to a file, such as profile.properties.csv.
func saveProperties(dir, stem, format string, write func(io.Writer) error) error {
	to, err := reportDirectory(dir, dir)
	if err != nil {
		return err
	}
	if format == properties.Formats[0].Name {
		format = "txt"
	}
	name := filepath.Join(to, stem+".properties."+format)
	if err := results.Save(name, write); err != nil {
		return err
	}
	cli.TellFile(name)
	return nil
}

// severeRun is a run, and the beginning of its files' names: "profile" or "job".
type severeRun struct {
	stem    string
	cube    *severity.Cube
	options report.Options
}

func readSeverities(dir string, f *reportFlags) ([]severeRun, error) {
	if ranks, _, err := results.FindRanks(dir); err == nil && len(ranks) > 0 && f.rank < 0 {
		return readJobSeverity(dir, ranks, f)
	}
	names, err := profilesFor(dir, f)
	if err != nil {
		return nil, err
	}
	var runs []severeRun
	for _, name := range names {
		p, err := results.ReadProfile(name)
		if err != nil {
			return nil, err
		}
		o, err := f.severityOptions(report.CounterNames(p))
		if err != nil {
			return nil, err
		}
		runs = append(runs, severeRun{strings.TrimSuffix(filepath.Base(name), results.RecordSuffix), o.Severity(p), o})
	}
	return runs, nil
}

func readJobSeverity(dir string, ranks []job.Source, f *reportFlags) ([]severeRun, error) {
	var counters []string
	if len(f.properties.own) > 0 { // all ranks have the same counters
		file, err := results.FileOfRank(dir, ranks, ranks[0].Rank)
		if err != nil {
			return nil, err
		}
		p, err := results.ReadProfile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		counters = report.CounterNames(p)
	}
	o, err := f.severityOptions(counters)
	if err != nil {
		return nil, err
	}
	of := o.Severities()
	j, err := job.Read(ranks, job.Options{Rules: o.Rules, Classic: o.Classic, Raw: o.Raw, Severity: &of})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, t := range j.Troubles() {
		cli.Warn("%s", t)
	}
	return []severeRun{{"job", j.Severity, o}}, nil
}
