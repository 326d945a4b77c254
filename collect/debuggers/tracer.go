package debuggers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// tracer is the process that debugs or traces another one.
type tracer struct {
	pid  int
	name string
}

// tracerOf returns the tracer of a process, or the zero value if it has none. strace counts as
// none: it sets no breakpoints.
func tracerOf(pid int) tracer {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return tracer{}
	}
	_, rest, _ := bytes.Cut(b, []byte("TracerPid:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	t := tracer{}
	if t.pid, err = strconv.Atoi(string(line)); err != nil || t.pid == 0 {
		return tracer{}
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", t.pid))
	if t.name = strings.TrimSpace(string(name)); t.name == "strace" {
		return tracer{}
	}
	return t
}
