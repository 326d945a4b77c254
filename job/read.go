package job

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strconv"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// maxRank bounds the rank in a file's name: far beyond any job, and small enough for an index.
const maxRank = 1 << 24

// Options say what Read takes from the profiles.
type Options struct {
	Paths   bool           // call paths as well
	Rules   analysis.Rules // rules of the overhead classes
	Classic bool           // without the regions of single MPI calls
	Raw     bool           // times as measured, including the time that probes took
	// Severity asks for the run's time by property, call path and thread; nil: without.
	Severity *severity.Options
	Strip    bool // what the ranks did over time
	// Path asks for Job.CriticalPath, if the ranks were recorded with --waits.
	// Severity includes it.
	Path bool

	waits *Matching // to be added; nil: they are not known yet
}

// Source is a recorded profile of one rank.
type Source struct {
	Name string // name of the file, for messages
	Rank int    // rank in the file's name
	Copy int    // 0, or the number of a further profile of the same rank
	Open func() (io.ReadCloser, error)
}

var fileName = regexp.MustCompile(`^profile\.rank(0|[1-9]\d{0,8})(?:-([1-9]\d{0,8}))?\.json\.gz$`)

// ParseName returns the rank and the copy number in the name of a recorded profile. ok is false for
// names of other files. FileName is its inverse.
func ParseName(name string) (rank, copy int, ok bool) {
	m := fileName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	rank, _ = strconv.Atoi(m[1]) // cannot fail: at most nine digits
	copy, _ = strconv.Atoi(m[2]) // 0 if there are no digits
	return rank, copy, rank < maxRank
}

// FileName returns the name of a rank's recorded profile.
func FileName(rank, copy int) string {
	if copy > 0 {
		return fmt.Sprintf("profile.rank%d-%d.json.gz", rank, copy)
	}
	return fmt.Sprintf("profile.rank%d.json.gz", rank)
}

// Read merges the profiles that can be read. Job.Troubles describes the others. Read reads as many
// profiles at a time as there are CPUs. It fails if no profile could be read.
func Read(sources []Source, o Options) (*Job, error) {
	sources = slices.Clone(sources)
	slices.SortFunc(sources, bySource)
	j, err := merged(sources, o)
	if err != nil || len(j.calls) == 0 {
		return j, err
	}
	o.waits = matchCalls(j.calls, j.Size > 0 && len(j.Missing()) == 0)
	if j.Waits = o.waits; o.Severity == nil {
		j.calls = nil
		return j, nil
	}
	if j, err = merged(sources, o); err != nil {
		return nil, err
	}
	j.Waits, j.Severity.Notes, j.Severity.Nodes, j.Severity.JobPath = o.waits, o.waits.Sentences(), o.waits.nodes(), o.waits.path()
	return j, nil
}

// merged is Read without what needs the calls of all ranks.
func merged(sources []Source, o Options) (*Job, error) {
	j := newJob()
	if n := len(sources); n > 0 {
		j.binWidth = (sources[n-1].Rank + MostBins) / MostBins
	}
	if o.Paths {
		j.Paths = newPaths(maxSamples)
	}
	if o.Severity != nil {
		j.severity = newSeverities()
	}
	var first error
	for r := range firstFilesFirst(inOrder(sources, func(s Source) (*reduced, error) { return s.reduce(o) })) {
		if r.err != nil {
			if first == nil {
				first = fmt.Errorf("%s: %w", r.source.Name, r.err)
			}
			j.trouble(unreadable, r.source.Rank, reason(r.err))
			continue
		}
		j.add(r.got, r.source.Copy > 0)
	}
	if len(j.Ranks) == 0 {
		if first != nil {
			return nil, fmt.Errorf("none of %d profiles could be read; the first: %w", len(sources), first)
		}
		return nil, errors.New("there is no rank's profile")
	}
	j.finish()
	j.compareRanks()
	return j, nil
}

// bySource orders the ranks, and the profiles of one rank.
func bySource(a, b Source) int { return cmp.Or(a.Rank-b.Rank, a.Copy-b.Copy) }

// reason returns an error without the file's name, so that ranks with the same trouble share a
// sentence.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// outcome is what could be made of a source.
type outcome[T any] struct {
	source Source
	got    T
	err    error
}

// read returns the profile as it was recorded.
func (s Source) read() (*profile.Profile, error) {
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return profile.Decode(r)
}

func (s Source) reduce(o Options) (*reduced, error) {
	p, err := s.read()
	if err != nil {
		return nil, err
	}
	return reduce(p, s.Name, s.Rank, o), nil
}

// inOrder calls work for all sources, a few at a time, and yields the outcomes in the order of the
// sources. So the choice between two profiles of one rank does not depend on which is ready first.
// If the consumer breaks off, a few further calls of work may still run, and then end.
func inOrder[T any](sources []Source, work func(Source) (T, error)) iter.Seq[outcome[T]] {
	return func(yield func(outcome[T]) bool) {
		queue := make(chan chan outcome[T], runtime.GOMAXPROCS(0))
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			defer close(queue)
			for _, s := range sources {
				done := make(chan outcome[T], 1)
				select {
				case queue <- done:
				case <-stop:
					return
				}
				go func() {
					got, err := work(s)
					done <- outcome[T]{s, got, err}
				}()
			}
		}()
		for done := range queue {
			if !yield(<-done) {
				return
			}
		}
	}
}
