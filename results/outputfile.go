package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// outputName is the name of the file with what a program wrote.
const outputName = RecordStem + ".output.txt"

// OutputFile opens a file for what a program writes. In a directory that the user has named, the
// file stays, and its name is returned. Otherwise the file has no name, and goes when it is closed.
func (o *Directory) OutputFile() (f *os.File, name string, err error) {
	if !o.named {
		f, err := os.CreateTemp("", "ompp-attach-output-")
		if err != nil {
			return nil, "", err
		}
		return f, "", os.Remove(f.Name())
	}
	if err := o.prepare(); err != nil {
		return nil, "", err
	}
	root, _, err := OpenDirectory(o.Dir, false)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	name = filepath.Join(o.Dir, outputName)
	f, err = root.OpenFile(outputName, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, os.FileMode(0o644&^umask))
	if errors.Is(err, fs.ErrExist) {
		return nil, "", fmt.Errorf("there is a %s already: give another directory with -o, or --overwrite to replace it", name)
	}
	if err != nil {
		return nil, "", Reason(err)
	}
	o.output = true
	if uid, gid, ok := sudoUser(); ok {
		err = cmp.Or(err, f.Chown(uid, gid))
	}
	return f, name, err
}

// DropOutput removes the file that OutputFile has made, unless something was written to it. The
// program must not run: it would go on to write to the file.
func (o *Directory) DropOutput() {
	if !o.output {
		return
	}
	root, _, err := OpenDirectory(o.Dir, false)
	if err != nil {
		return
	}
	defer root.Close()
	if st, err := root.Lstat(outputName); err == nil && st.Size() == 0 {
		_ = root.Remove(outputName)
	}
}
