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
	"ompp-attach/report/jobs"
	"ompp-attach/report/tables"
	"ompp-attach/results"
)

// tableFlag is --by: by what report adds up a process's time.
type tableFlag struct{ by string }

func (f *tableFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.by, "by", "", "print the time of a process, job or rank by `WAY`, worst first: "+strings.Join(tables.Names(), ", "))
}

// reportTable prints a table of a process, a rank or a job, or writes it to a file in the directory
// that -o names.
func reportTable(dir string, f *reportFlags) error {
	by, ok := tables.Named(f.table.by)
	if !ok {
		return cli.Misuse(fmt.Errorf("--by %q: there are %s", f.table.by, strings.Join(tables.Names(), ", ")))
	}
	formats := f.formats
	if len(formats) == 0 {
		formats = tables.Formats[:1]
	}
	for _, n := range formats {
		if !slices.Contains(tables.Formats, n) {
			return cli.Misuse(fmt.Errorf("unknown format %q; with --by there are %s", n, strings.Join(tables.Formats, ", ")))
		}
	}
	if ranks, _, err := results.FindRanks(dir); err == nil && len(ranks) > 0 && f.rank < 0 {
		return jobTable(dir, ranks, by, formats, f)
	}
	names, err := profilesFor(dir, f)
	if err != nil {
		return err
	}
	plain := f.dir == "" || f.dir == "-"
	if plain && len(formats) > 1 || plain && len(names) > 1 && formats[0] != tables.Formats[0] {
		return errManyTables
	}
	var errs []error
	for _, name := range names {
		p, err := results.ReadProfile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if plain && len(names) > 1 {
			fmt.Printf("%s:\n", cli.Pasteable(filepath.Base(name)))
		}
		for _, format := range formats {
			write := func(w io.Writer) error { return report.WriteBy(w, p, by, format, f.view.Options()) }
			if plain {
				errs = append(errs, write(os.Stdout))
				continue
			}
			errs = append(errs, saveTable(f.dir, strings.TrimSuffix(filepath.Base(name), results.RecordSuffix), by, format, write))
		}
	}
	return errors.Join(errs...)
}

var errManyTables = cli.Misuse(errors.New("that is more than one table: give a directory for the files with -o"))

// jobTable prints a table of all ranks together, or writes it to a file.
func jobTable(dir string, ranks []job.Source, by tables.By, formats []string, f *reportFlags) error {
	plain := f.dir == "" || f.dir == "-"
	if plain && len(formats) > 1 {
		return errManyTables
	}
	o := f.view.Options()
	options := job.Options{Rules: o.Rules, Classic: o.Classic, Raw: o.Raw}
	j, err := job.Read(ranks, options)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for _, t := range j.Troubles() {
		cli.Warn("%s", t)
	}
	all, err := job.Together(ranks, options)
	switch {
	case errors.Is(err, job.ErrTooLarge):
		return fmt.Errorf("%s: %w: give --rank R, or read the job's own tables with --format csv", dir, err)
	case err != nil:
		return fmt.Errorf("%s: %w", dir, err)
	}
	var errs []error
	for _, format := range formats {
		write := func(w io.Writer) error { return jobs.WriteBy(w, all, by, format, o) }
		if plain {
			errs = append(errs, write(os.Stdout))
			continue
		}
		errs = append(errs, saveTable(f.dir, "job", by, format, write))
	}
	return errors.Join(errs...)
}

// saveTable writes a table to a file, such as profile.by-region.csv.
func saveTable(dir, stem string, by tables.By, format string, write func(io.Writer) error) error {
	to, err := reportDirectory(dir, dir)
	if err != nil {
		return err
	}
	end := format
	if end == tables.Formats[0] {
		end = "txt"
	}
	name := filepath.Join(to, stem+".by-"+by.Name+"."+end)
	if err := results.Save(name, write); err != nil {
		return err
	}
	cli.TellFile(name)
	return nil
}

// profilesFor returns the files of the profiles of which a table is made. They are the profiles of
// a process and its children, or a rank's profile.
func profilesFor(dir string, f *reportFlags) ([]string, error) {
	ranks, others, err := results.FindRanks(dir)
	switch {
	case err != nil:
		return nil, err
	case len(ranks) > 0:
		file, err := results.FileOfRank(dir, ranks, f.rank)
		return []string{filepath.Join(dir, file)}, err
	case f.rank >= 0:
		return nil, noRanks(dir)
	case len(others) == 0:
		return nil, fmt.Errorf("%s holds no recorded profile (%s): give a directory that run or attach has written", dir, results.RecordName)
	}
	for i := range others {
		others[i] = filepath.Join(dir, others[i])
	}
	return others, nil
}
