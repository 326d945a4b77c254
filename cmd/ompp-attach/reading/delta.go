package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// openWindow reads the value of --delta, as in `2,5` or `2,end`. The second number may also be an
// argument, as in `--delta 2 5 DIR`. It returns the window, and the directory, which is the last
// argument.
func openWindow(text string, args []string) (*results.Window, string, error) {
	from, to, both := strings.Cut(text, ",")
	if !both && len(args) > 0 {
		to, args = args[0], args[1:]
	}
	dir := strings.Join(args, " ")
	w, ok := results.OpenWindow(dir, from, to)
	if !ok {
		return nil, "", cli.Misuse(fmt.Errorf("--delta %s: give two snapshots, the earlier one first, as in `report --delta 2 5 DIR`; 0 is the beginning, end the final profile", text))
	}
	if len(args) != 1 {
		return nil, "", cli.Misuse(errors.New("which directory? give it after the two numbers, as in `report --delta 2 5 DIR`"))
	}
	return w, dir, w.Check()
}

// emptyOfProfiles refuses a directory with the profile of a measurement: a window would replace the
// profile, or the profile's reports.
func emptyOfProfiles(dir string) error {
	if dir == "" || dir == "-" {
		return nil
	}
	if found := files.Matching(dir, results.RecordStem+"*"+results.RecordSuffix); len(found) > 0 {
		return cli.Misuse(fmt.Errorf("%s has the profile of a measurement, which a window must not replace: give -o another directory", dir))
	}
	return nil
}

// reportJobWindow reports a window of a job. It writes no files to the job's directory, where they
// would replace the reports of the whole job.
func reportJobWindow(dir string, ranks []job.Source, others []string, f *reportFlags) error {
	const text = "text"
	if f.dir == "" {
		if len(f.formats) == 0 {
			f.formats = []string{text}
		}
		if slices.ContainsFunc(f.formats, func(format string) bool { return format != text }) {
			return cli.Misuse(errors.New("files of a job's window need a directory of their own: give -o OUT"))
		}
	}
	return reportJob(dir, ranks, others, f)
}

// reportWindow reports what was measured between two snapshots.
func reportWindow(args []string, f *reportFlags) error {
	w, dir, err := openWindow(f.delta, args)
	if err != nil {
		return err
	}
	if f.table.by != "" || f.efficiency || f.properties.wanted() {
		return cli.Misuse(errors.New("--delta goes with --format only: write the window to a directory (-o OUT), and say `report --by`, `--properties` or `--efficiency` of OUT"))
	}
	if err := emptyOfProfiles(f.dir); err != nil {
		return err
	}
	ranks, others, err := results.FindRanks(dir)
	if err != nil {
		return err
	}
	if len(ranks) > 0 && f.rank < 0 {
		for i := range ranks {
			ranks[i] = w.Source(ranks[i])
		}
		err = reportJobWindow(dir, ranks, others, f)
	} else {
		stems := w.Stems()
		if f.rank >= 0 {
			stems = []string{strings.TrimSuffix(job.FileName(f.rank, 0), results.RecordSuffix)}
		}
		err = reportWindows(w, dir, stems, f)
	}
	if apart := w.Apart(); apart != "" {
		cli.Warn("%s", apart)
	}
	return err
}

// reportWindows reports a window of processes. stems are the beginnings of their files' names. It
// fails if none of the processes ran within the window.
func reportWindows(w *results.Window, dir string, stems []string, f *reportFlags) error {
	formats := f.formats
	if len(formats) == 0 {
		formats = []string{"ompp"}
	}
	if err := results.CheckFormats(formats); err != nil {
		return cli.Misuse(err)
	}
	printed := f.dir == "-" && len(formats) == 1 && !isTree(formats[0]) || f.dir == "" && len(f.formats) == 0
	to := ""
	if !printed {
		var err error
		if to, err = reportDirectory(dir, f.dir); err != nil {
			return err
		}
	}
	var errs []error
	done := 0
	for _, stem := range stems {
		p, err := w.Read(stem)
		switch {
		case errors.Is(err, results.ErrNotThere):
			continue
		case err != nil:
			errs = append(errs, err)
			continue
		case printed:
			if done > 0 {
				fmt.Println()
			}
			err = writeReport(os.Stdout, p, formats[0], f.view.Options())
		default:
			err = saveWindow(w, to, stem, p, formats, f)
		}
		if err != nil {
			return err
		}
		done++
	}
	switch {
	case done == 0 && len(errs) == 0:
		return fmt.Errorf("%s has no process that ran within this window", dir)
	case done == 0:
		return errors.Join(errs...)
	}
	for _, err := range errs {
		cli.Warn("%v: it is left out", err)
	}
	return nil
}

// saveWindow writes the window of a process. If the window has a directory of its own (-o), the
// profile is written there, too: so diff and report can read the directory like a measurement's.
func saveWindow(w *results.Window, to, stem string, p *profile.Profile, formats []string, f *reportFlags) error {
	if f.dir == "" {
		stem = w.String() + strings.TrimPrefix(stem, results.RecordStem)
	} else {
		name := filepath.Join(to, stem+results.RecordSuffix)
		if err := results.Save(name, func(out io.Writer) error { return profile.Encode(out, p) }); err != nil {
			return err
		}
		cli.TellFile(name)
	}
	return reportOne(to, stem, p, formats, f.view.Options())
}
