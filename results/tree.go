package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	treeFile = regexp.MustCompile(`^profile\.\d+\.\d+\.\d+$`)
	treeDir  = regexp.MustCompile(`^MULTI__[A-Za-z0-9_.-]+$`)
)

// Clear removes the files of an older report from the directory of a format that writes a file for
// each thread. The files of a run with more threads would seem to belong to the new run. Other
// files stay.
func Clear(dir, name string) error {
	root, _, err := OpenDirectory(dir, false)
	if err != nil {
		return fmt.Errorf("cannot replace %s: %w", filepath.Join(dir, name), err)
	}
	defer root.Close()
	if err := clearTree(root, name); err != nil {
		return fmt.Errorf("cannot replace %s: %w", filepath.Join(dir, name), Reason(err))
	}
	return nil
}

// clearTree removes such files below a directory, and directories that are empty then.
func clearTree(root *os.Root, name string) error {
	names, err := fs.ReadDir(root.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range names {
		at := name + "/" + f.Name()
		switch {
		case f.IsDir() && treeDir.MatchString(f.Name()) && !strings.Contains(name, "/"):
			errs = append(errs, clearTree(root, at))
		case f.Type().IsRegular() && treeFile.MatchString(f.Name()):
			errs = append(errs, root.Remove(at))
		}
	}
	_ = root.Remove(name) // if it is empty
	return errors.Join(errs...)
}
