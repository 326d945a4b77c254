package target

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Tracer is the process that debugs or traces another one.
type Tracer struct {
	PID  int
	Name string
}

// TracerOf returns the tracer of a process, or the zero value if it has none. strace counts as
// none: it sets no breakpoints.
func TracerOf(pid int) Tracer {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Tracer{}
	}
	_, rest, _ := bytes.Cut(b, []byte("TracerPid:\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	t := Tracer{}
	if t.PID, err = strconv.Atoi(string(line)); err != nil || t.PID == 0 {
		return Tracer{}
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", t.PID))
	if t.Name = strings.TrimSpace(string(name)); t.Name == "strace" {
		return Tracer{}
	}
	return t
}
