package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ompp-attach/files"
	"ompp-attach/job"
	"ompp-attach/profile"
)

// ReadProfile reads a recorded profile. The error names the file.
func ReadProfile(name string) (*profile.Profile, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", name, Reason(err))
	}
	defer f.Close()
	p, err := profile.Decode(f)
	switch {
	case errors.Is(err, profile.ErrNewerVersion):
		return nil, fmt.Errorf("%s: %w; use that version, or a newer one", name, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w; measure again, or give another directory", name, err)
	}
	return p, nil
}

// FindRanks lists the profiles of ranks in a directory, and the names of other profiles.
func FindRanks(dir string) (ranks []job.Source, others []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open %s: %w; give a directory that run or attach has written", dir, Reason(err))
	}
	for _, f := range entries {
		name := filepath.Join(dir, f.Name())
		rank, copy, ok := job.ParseName(f.Name())
		switch {
		case ok:
			ranks = append(ranks, job.Source{Name: f.Name(), Rank: rank, Copy: copy, Open: func() (io.ReadCloser, error) { return files.Open(name) }})
		case Recorded.MatchString(f.Name()):
			others = append(others, f.Name())
		}
	}
	return ranks, others, nil
}

// FileOfRank returns the name of a rank's recorded profile. Of several, the first one counts.
func FileOfRank(dir string, ranks []job.Source, rank int) (string, error) {
	ranks = slices.DeleteFunc(slices.Clone(ranks), func(s job.Source) bool { return s.Rank != rank })
	if len(ranks) == 0 {
		return "", fmt.Errorf("%s holds no profile of rank %d (%s)", dir, rank, job.FileName(rank, 0))
	}
	return slices.MinFunc(ranks, func(a, b job.Source) int { return a.Copy - b.Copy }).Name, nil
}
