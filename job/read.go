package job

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strconv"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// maxRank bounds the rank that a file's name may state: far beyond any job,
// and small enough to index by.
const maxRank = 1 << 24

// Options say what is to be taken from the profiles.
type Options struct {
	Paths   bool           // call paths too
	Rules   analysis.Rules // of the overhead classes
	Classic bool           // without the regions of single MPI calls
	Raw     bool           // times as measured, with what the probes took of them
}

// Source is a recorded profile of one rank.
type Source struct {
	Name string // of the file, for messages
	Rank int    // as the name says
	Copy int    // 0, or the number of a further profile of the rank
	Open func() (io.ReadCloser, error)
}

var fileName = regexp.MustCompile(`^profile\.rank(0|[1-9]\d{0,8})(?:-([1-9]\d{0,8}))?\.json\.gz$`)

// ParseName tells of which rank a file's name says that it is the profile;
// ok is false of names that are no rank's. FileName is its inverse.
func ParseName(name string) (rank, copy int, ok bool) {
	m := fileName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	rank, _ = strconv.Atoi(m[1]) // at most nine digits
	copy, _ = strconv.Atoi(m[2]) // or none
	return rank, copy, rank < maxRank
}

// FileName is the name of a rank's recorded profile.
func FileName(rank, copy int) string {
	if copy > 0 {
		return fmt.Sprintf("profile.rank%d-%d.json.gz", rank, copy)
	}
	return fmt.Sprintf("profile.rank%d.json.gz", rank)
}

// Read merges the profiles that can be read; what it could not use is told by
// Job.Troubles. It reads as many at a time as there are CPUs. It fails if there
// is none to show.
func Read(sources []Source, o Options) (*Job, error) {
	sources = slices.Clone(sources)
	slices.SortFunc(sources, func(a, b Source) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return a.Copy - b.Copy
	})
	j := newJob()
	if o.Paths {
		j.Paths = newPaths(maxSamples)
	}
	var first error
	for r := range inOrder(sources, func(s Source) outcome { return s.reduce(o) }) {
		if r.err != nil {
			if first == nil {
				first = fmt.Errorf("%s: %w", r.source.Name, r.err)
			}
			j.trouble(unreadable, r.source.Rank, reason(r.err))
			continue
		}
		j.take(r.reduced)
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

// reason leaves a file's name out, so that ranks with the same trouble share a
// sentence.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

type outcome struct {
	source  Source
	reduced *reduced
	err     error
}

func (s Source) reduce(o Options) outcome {
	r, err := s.Open()
	if err != nil {
		return outcome{source: s, err: err}
	}
	defer r.Close()
	p, err := profile.Decode(r)
	if err != nil {
		return outcome{source: s, err: err}
	}
	return outcome{source: s, reduced: reduce(p, s.Name, s.Rank, o)}
}

// inOrder does work on all sources, a few at a time, and yields the outcomes
// in the sources' order, so that which of two profiles of a rank counts does
// not depend on who is ready first.
func inOrder(sources []Source, work func(Source) outcome) func(func(outcome) bool) {
	return func(yield func(outcome) bool) {
		queue := make(chan chan outcome, runtime.GOMAXPROCS(0))
		go func() {
			defer close(queue)
			for _, s := range sources {
				done := make(chan outcome, 1)
				queue <- done
				go func() { done <- work(s) }()
			}
		}()
		for done := range queue {
			if !yield(<-done) {
				return
			}
		}
	}
}
