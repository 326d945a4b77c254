package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/files"
	"ompp-attach/hiera"
	"ompp-attach/hiera/recorded"
	"ompp-attach/hiera/xmltrace"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// Options say what is read.
type Options struct {
	Raw bool // times as measured, with the time that the probes took
}

// Loaded are statistics, and the graph of operations that belong together.
type Loaded struct {
	*hiera.Statistics
	Graph *hiera.Graph // nil: of recorded profiles, which hold no single operations
	// Troubles are sentences about processes that could not be read.
	Troubles []string
}

// Paths reads what the paths name: one directory, or files.
func Paths(paths []string, o Options) (*Loaded, error) {
	if len(paths) == 1 {
		st, err := files.Stat(paths[0])
		if err != nil {
			return nil, fmt.Errorf("cannot open %s: %w; give a directory that run or attach has written, or XML traces", paths[0], results.Reason(err))
		}
		if st.IsDir() {
			return directory(paths[0], o)
		}
	}
	return traces(paths)
}

// directory reads a directory: the profiles in it, or the XML traces.
func directory(dir string, o Options) (*Loaded, error) {
	ranks, others, err := results.FindRanks(dir)
	if err != nil {
		return nil, err
	}
	if len(ranks) > 0 || len(others) > 0 {
		return profiles(dir, ranks, others, o)
	}
	names := xmlFiles(dir)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds neither recorded profiles (%s) nor traces (*.xml): give files, or a directory that has some", dir, results.RecordName)
	}
	return traces(names)
}

// xmlFiles returns a directory's configuration file if there is just one, or else its traces.
func xmlFiles(dir string) []string {
	if configs := files.Matching(dir, "*.hiera.xml"); len(configs) == 1 {
		return configs
	}
	all := files.Matching(dir, "*.xml")
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, ".hiera.xml") })
}

// traces reads XML files. A configuration file stands for the files that it names.
func traces(paths []string) (*Loaded, error) {
	l := &Loaded{Statistics: &hiera.Statistics{}, Graph: hiera.NewGraph()}
	if len(paths) == 1 {
		if c, err := config(paths[0]); err == nil {
			l.Program = c.Application
			dir := filepath.Dir(paths[0])
			paths = nil
			for _, f := range c.Files {
				paths = append(paths, filepath.Join(dir, f.Name))
			}
		}
	}
	seen := map[int]string{}
	for _, path := range paths {
		t, gaps, err := one(path, l.Graph)
		if err != nil {
			return nil, err
		}
		if before, ok := seen[t.Rank]; ok {
			return nil, fmt.Errorf("%s and %s are both of process %d: give the traces of one run", before, path, t.Rank)
		}
		seen[t.Rank] = path
		l.Processes = append(l.Processes, t)
		if l.Program == "" {
			l.Program = t.Program
		}
		l.noteGaps(t, gaps)
	}
	if slices.ContainsFunc(l.Processes, func(t *hiera.Tally) bool { return t.StartEnds > 0 }) {
		l.Notes = append([]string{recorded.NoteStartEnd}, l.Notes...)
	}
	l.Sort()
	l.Graph.Join()
	return l, nil
}

func (l *Loaded) noteGaps(t *hiera.Tally, gaps []xmltrace.Gap) {
	missing := int64(0)
	for _, g := range gaps {
		missing += g.To - g.From
	}
	if len(gaps) > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("Process %d: the trace lacks %.3f s (number of gaps: %d). Counts and times are without them.", t.Rank, float64(missing)/1e9, len(gaps)))
	}
	if t.Unfinished > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("Process %d: %d operations had not ended when the trace did.", t.Rank, t.Unfinished))
	}
}

func config(path string) (*xmltrace.Config, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return xmltrace.ReadConfig(f)
}

func one(path string, g *hiera.Graph) (*hiera.Tally, []xmltrace.Gap, error) {
	f, err := files.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("%s: there is no such file", path)
		}
		return nil, nil, fmt.Errorf("cannot open %s: %w", path, results.Reason(err))
	}
	defer f.Close()
	t, gaps, err := xmltrace.Load(f, g)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; give a directory that run or attach has written, or traces in the format of HieraAnalyses", path, err)
	}
	return t, gaps, nil
}

// profiles reads the profiles of a job's ranks, or of processes that are no ranks.
func profiles(dir string, ranks []job.Source, others []string, o Options) (*Loaded, error) {
	l := &Loaded{}
	var metas []*profile.Meta
	var tallies []*hiera.Tally
	add := func(p *profile.Profile, rank int) {
		if !o.Raw {
			p = analysis.Adjust(p)
		}
		tallies, metas = append(tallies, recorded.Tally(p, rank)), append(metas, &p.Meta)
	}
	switch {
	case len(ranks) > 0:
		for _, s := range ranks {
			if s.Copy > 0 { // another program of the same rank
				continue
			}
			p, err := results.ReadProfile(filepath.Join(dir, s.Name))
			if err != nil {
				l.Troubles = append(l.Troubles, err.Error())
				continue
			}
			add(p, s.Rank)
		}
	default:
		for i, name := range others {
			p, err := results.ReadProfile(filepath.Join(dir, name))
			if err != nil {
				l.Troubles = append(l.Troubles, err.Error())
				continue
			}
			add(p, i)
		}
	}
	if len(tallies) == 0 {
		return nil, errors.New(strings.Join(l.Troubles, "; "))
	}
	if err := partners(dir, ranks, tallies); err != nil {
		l.Troubles = append(l.Troubles, err.Error())
	}
	l.Statistics = recorded.Statistics(tallies, metas)
	return l, nil
}

// partners adds with whom the ranks of a job exchanged messages.
func partners(dir string, ranks []job.Source, tallies []*hiera.Tally) error {
	if len(ranks) == 0 {
		return nil
	}
	j, err := job.Read(ranks, job.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	var all []recorded.Partner
	for _, l := range j.Traffic.Links {
		all = append(all, recorded.Partner{Rank: l.Rank, World: l.Partner, Exchange: l.Exchange})
	}
	for _, t := range tallies {
		recorded.AddPartners(t, all)
	}
	return nil
}
