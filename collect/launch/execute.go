package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// execute replaces this process by a program. Like shells and execvp, it has /bin/sh read a text
// file that names no interpreter (POSIX.1-2017, Shell, 2.9.1). It returns only if the program
// cannot be executed.
func execute(path string, args []string) error {
	err := syscall.Exec(path, args, os.Environ())
	if errors.Is(err, syscall.ENOEXEC) && isText(path) {
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, args[1:]...), os.Environ())
	}
	return err
}

// isText tells scripts from programs for other machines, as bash does: a program has a zero byte in
// the first line.
func isText(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [128]byte
	n, err := io.ReadFull(f, b[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	line, _, _ := bytes.Cut(b[:n], []byte("\n"))
	return bytes.IndexByte(line, 0) < 0
}

// notExecuted says why a file that exists could not be executed.
func notExecuted(path string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Sprintf("cannot run %s: it is neither a program for this machine nor a script", path)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Sprintf("cannot run %s: the interpreter that it names (in its first line, or as its loader) is missing", path)
	}
	return fmt.Sprintf("cannot run %s: %v", path, err)
}
