package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
)

// Save writes a file whole or not at all: a report that a full disk cut off would look like a
// result. Root may write into another user's directory, so Save follows no links there.
func Save(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	root, _, err := OpenDirectory(filepath.Dir(name), false)
	if err == nil {
		defer root.Close()
		err = files.Save(root, filepath.Base(name), b.Bytes(), givenToUser)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, Reason(err))
	}
	return nil
}

// Stream is Save for contents that may be larger than the memory.
func Stream(name string, write func(io.Writer) error) error {
	root, _, err := OpenDirectory(filepath.Dir(name), false)
	if err == nil {
		defer root.Close()
		err = files.Write(root, filepath.Base(name), func(f *os.File) error {
			return cmp.Or(write(f), givenToUser(f))
		})
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, Reason(err))
	}
	return nil
}

// givenToUser gives a file the permissions and the owner of a file that the user has made.
func givenToUser(f *os.File) error {
	err := f.Chmod(os.FileMode(0o644 &^ umask))
	if uid, gid, ok := sudoUser(); ok {
		err = cmp.Or(err, f.Chown(uid, gid))
	}
	return err
}

// umask is the user's umask. It can be read only by setting it for all threads. So it is read here,
// before the files of several ranks may be written at one time.
var umask = func() int {
	mask := unix.Umask(0)
	unix.Umask(mask)
	return mask
}()

// Reason strips the operation and the path from an error, since the message has them already.
func Reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
