package results

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"ompp-attach/files"
)

// removeOld removes the files of an older run: its profiles would seem to belong to the new run. It
// also removes files that killed tools have left.
func removeOld(dir string) error {
	root, _, err := OpenDirectory(dir, false)
	if err != nil {
		return fmt.Errorf("cannot look for older profiles: %w", err)
	}
	defer root.Close()
	names, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("cannot look for older profiles: %w", err)
	}
	var errs []error
	for _, f := range names {
		if f.IsDir() && resultTree.MatchString(f.Name()) {
			if err := clearTree(root, f.Name()); err != nil {
				errs = append(errs, fmt.Errorf("cannot remove an older profile: %w", err))
			}
			continue
		}
		if resultFile.MatchString(f.Name()) || leftOver(f) {
			if err := root.Remove(f.Name()); err != nil {
				errs = append(errs, fmt.Errorf("cannot remove an older profile: %w", err))
			}
		}
	}
	removeDeadMarks(root, dir)
	return errors.Join(errs...)
}

// leftOver tells whether a file was being written when its writer was killed.
func leftOver(f fs.DirEntry) bool {
	st, err := f.Info()
	return err == nil && st.Mode().IsRegular() && strings.HasPrefix(f.Name(), files.Prefix) && time.Since(st.ModTime()) > staleAfter
}
