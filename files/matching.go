package files

import (
	"cmp"
	"os"
	"path/filepath"
)

// Matching returns the files of a directory that match a pattern (see filepath.Match), by name,
// with the directory's path. Other than in filepath.Glob, the directory may have [, * and ? in its
// name. A directory that cannot be read has none.
func Matching(dir, pattern string) (names []string) {
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if ok, err := filepath.Match(pattern, e.Name()); ok && err == nil {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}
