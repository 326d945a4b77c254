// Package runs reads the runs that a comparison is of, from what a user names.
package runs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/compare"
	"ompp-attach/files"
	"ompp-attach/job"
	"ompp-attach/results"
)

// ErrNoName is the reason why a list of runs is refused in which a name is empty.
var ErrNoName = errors.New("a run without a name")

// Options say how runs are read.
type Options struct {
	Raw     bool                          // times as measured, with what the probes took
	Classic bool                          // overhead classes of the original ompP
	Warn    func(format string, a ...any) // tells the user that a measurement was cut short
}

// OfSide reads the runs of one side: a run, runs with commas between, or a directory of runs.
// Errors are those of reading; ErrNoName if a run between commas has no name.
func OfSide(side string, o Options) (runs []compare.Run, err error) {
	names := []string{side}
	if _, err := os.Stat(side); err != nil && strings.Contains(side, ",") {
		names = strings.Split(side, ",")
	}
	for _, name := range names {
		if name == "" {
			return nil, fmt.Errorf("%q names %w: give directories with commas between, as A1,A2", side, ErrNoName)
		}
		inner, err := repeats(name)
		if err != nil {
			return nil, err
		}
		for _, one := range inner {
			run, err := read(one, o)
			if err != nil {
				return nil, err
			}
			runs = append(runs, *run)
		}
	}
	return runs, nil
}

// repeats lists the runs that a name stands for: itself, or the directories in it that hold
// profiles.
func repeats(name string) ([]string, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w; give a directory that run or attach has written, or a recorded profile", name, results.Reason(err))
	}
	if !st.IsDir() || holdsProfiles(name) {
		return []string{name}, nil
	}
	inner, err := os.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", name, results.Reason(err))
	}
	var runs []string
	for _, d := range inner {
		if dir := filepath.Join(name, d.Name()); holdsProfiles(dir) {
			runs = append(runs, dir)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s holds no recorded profile (%s), nor do the directories in it: give a directory that run or attach has written", name, results.RecordName)
	}
	return runs, nil
}

func holdsProfiles(dir string) bool {
	names, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(names, func(e fs.DirEntry) bool { return results.Recorded.MatchString(e.Name()) })
}

// read reads the ranks of a job, the processes of a run, or one profile.
func read(name string, opt Options) (*compare.Run, error) {
	var sources []job.Source
	process := func(path string) job.Source {
		return job.Source{Name: filepath.Base(path), Rank: len(sources), Open: func() (io.ReadCloser, error) { return files.Open(path) }}
	}
	var ranks []job.Source
	if st, err := os.Stat(name); err == nil && !st.IsDir() {
		sources = append(sources, process(name))
	} else {
		results.Await(name, opt.Warn)
		var others []string
		if ranks, others, err = results.FindRanks(name); err != nil {
			return nil, err
		}
		if sources = ranks; len(ranks) == 0 {
			for _, o := range others {
				sources = append(sources, process(filepath.Join(name, o)))
			}
		}
	}
	o := job.Options{Paths: true, Raw: opt.Raw}
	if opt.Classic {
		o.Rules = analysis.Classic
	}
	j, err := job.Read(sources, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	run := &compare.Run{Name: name, Job: j}
	switch torn := len(sources) - len(j.Ranks); {
	case len(ranks) > 0:
		run.Notes = j.Troubles()
	case torn > 0:
		run.Notes = []string{fmt.Sprintf("%d of the %d profiles could not be read.", torn, len(sources))}
	}
	return run, nil
}
