package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/efficiency"
	"ompp-attach/job"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/words"
	"ompp-attach/results"
	"ompp-attach/version"
)

// wantsEfficiency says whether the user asked for the efficiency of the run. The format talp is one
// of the efficiency only.
func (f *reportFlags) wantsEfficiency() bool {
	return f.efficiency || slices.Contains(f.formats, "talp")
}

// measuredRun is a run, and the beginning of its files' names: "profile" or "job".
type measuredRun struct {
	stem string
	*efficiency.Run
}

// reportEfficiency writes the efficiency of the job in a directory, of one of its ranks, or of each
// process if there is no job. The text goes to standard output unless -o is given.
func reportEfficiency(dir string, f *reportFlags) error {
	formats := f.formats
	if len(formats) == 0 {
		formats = []string{"text"}
	}
	for _, n := range formats {
		if _, ok := efficiencies.FormatNamed(n); !ok {
			return cli.Misuse(fmt.Errorf("unknown format %q of --efficiency; there are %s", n, efficiencies.Names()))
		}
	}
	runs, err := readRuns(dir, f)
	if err != nil {
		return err
	}
	tool, _ := version.Of()
	o := efficiencies.Options{Label: words.Region, All: f.view.All, Tool: tool}
	type output struct {
		name  string
		write func(io.Writer) error
	}
	var outputs []output
	var errs []error
	for _, r := range runs {
		var untold error
		for _, n := range formats {
			if h := r.Hidden(); h != nil && n != "text" {
				untold = fmt.Errorf("%s: the efficiency %s", r.stem, h.Says())
				continue
			}
			format, _ := efficiencies.FormatNamed(n)
			for _, file := range format.Files {
				write := func(w io.Writer) error { return file.Write(w, r.Run, o) }
				if f.dir == "" && n == "text" {
					if err := write(os.Stdout); err != nil {
						return err
					}
					continue
				}
				outputs = append(outputs, output{r.stem + "." + file.Suffix, write})
			}
		}
		if untold != nil {
			errs = append(errs, untold)
		}
	}
	if f.dir == "-" && len(outputs) == 1 {
		return errors.Join(append(errs, outputs[0].write(os.Stdout))...)
	}
	if len(outputs) == 0 {
		return errors.Join(errs...)
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	for _, out := range outputs {
		name := filepath.Join(to, out.name)
		if err := results.Save(name, out.write); err != nil {
			errs = append(errs, err)
			continue
		}
		cli.TellFile(name)
	}
	return errors.Join(errs...)
}

// readRuns reads the job in a directory, or the rank that the flags name, or else all processes
// that are no ranks. It fails if nothing can be read, and warns of each part that cannot be read.
func readRuns(dir string, f *reportFlags) ([]measuredRun, error) {
	ranks, others, err := results.FindRanks(dir)
	if err != nil {
		return nil, err
	}
	if len(ranks) > 0 && f.rank < 0 {
		j, err := job.Read(ranks, job.Options{Raw: f.view.Raw})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, t := range j.Troubles() {
			cli.Warn("%s", t)
		}
		return []measuredRun{{"job", j.Efficiency()}}, nil
	}
	if f.rank >= 0 {
		others = nil
		for _, s := range ranks {
			if s.Rank == f.rank && (others == nil || s.Copy == 0) {
				others = []string{s.Name}
			}
		}
		if others == nil {
			return nil, fmt.Errorf("%s holds no profile of rank %d (%s)", dir, f.rank, job.FileName(f.rank, 0))
		}
	}
	if len(others) == 0 {
		return nil, fmt.Errorf("%s holds no recorded profile (%s): give a directory that run or attach has written", dir, results.RecordName)
	}
	var runs []measuredRun
	var errs []error
	for _, name := range others {
		p, err := results.ReadProfile(filepath.Join(dir, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !f.view.Raw {
			p = analysis.Adjust(p)
		}
		runs = append(runs, measuredRun{strings.TrimSuffix(name, results.RecordSuffix), efficiency.OfProfile(analysis.NameCallers(p))})
	}
	if len(runs) == 0 {
		return nil, errors.Join(errs...)
	}
	for _, err := range errs {
		cli.Warn("%s", err)
	}
	return runs, nil
}
