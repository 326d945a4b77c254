package symbols

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mapping is one line of /proc/PID/maps that maps a file for execution.
type mapping struct {
	start, end uint64
	offset     uint64
	dev, inode uint64
	path       string // as the process sees it, without the kernel's mark
	// the kernel has marked the path: the file was removed, or replaced by another one
	deleted bool
}

// deletedMark is the text that the kernel appends to the path of a file that is gone.
const deletedMark = " (deleted)"

// parseMaps reads /proc/PID/maps (proc_pid_maps(5)) and returns the mappings of files for
// execution. It leaves out lines that it does not understand. Most lines are other mappings:
// thousands of data files may be mapped.
func parseMaps(r io.Reader) (ms []mapping, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		perms := bytes.IndexByte(s.Bytes(), ' ') + 1
		if perms+2 >= len(s.Bytes()) || s.Bytes()[perms+2] != 'x' {
			continue
		}
		if m, ok := parseMapsLine(s.Text()); ok {
			ms = append(ms, m)
		}
	}
	return ms, s.Err()
}

// parseMapsLine reads "start-end perms offset major:minor inode   path".
func parseMapsLine(line string) (m mapping, ok bool) {
	// The path may hold blanks, so only five fields are split off.
	var f [5]string
	rest := line
	for i := range f {
		f[i], rest, ok = strings.Cut(rest, " ")
		if !ok {
			return m, false
		}
	}
	path := strings.TrimLeft(rest, " ")
	if !strings.HasPrefix(path, "/") {
		return m, false
	}
	start, end, ok1 := strings.Cut(f[0], "-")
	major, minor, ok2 := strings.Cut(f[3], ":")
	var errs [6]error
	var maj, min uint64
	m.start, errs[0] = strconv.ParseUint(start, 16, 64)
	m.end, errs[1] = strconv.ParseUint(end, 16, 64)
	m.offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
	maj, errs[3] = strconv.ParseUint(major, 16, 32)
	min, errs[4] = strconv.ParseUint(minor, 16, 32)
	m.inode, errs[5] = strconv.ParseUint(f[4], 10, 64)
	for _, err := range errs {
		if err != nil {
			return mapping{}, false
		}
	}
	if !ok1 || !ok2 || m.inode == 0 || m.start >= m.end {
		return mapping{}, false
	}
	m.dev = unix.Mkdev(uint32(maj), uint32(min))
	path, m.deleted = strings.CutSuffix(path, deletedMark)
	// The kernel escapes a newline, and nothing else.
	m.path = strings.ReplaceAll(path, `\012`, "\n")
	return m, true
}
