package collect

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// threadTimes returns how long each of a process's threads has run (ns), as of
// the kernel's last tick; nothing if the kernel does not tell.
func threadTimes(pid int) map[uint32]int64 {
	out := map[uint32]int64{}
	for _, tid := range threadsOf(pid) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
		if err != nil {
			continue
		}
		first, _, _ := bytes.Cut(b, []byte(" "))
		if ns, err := strconv.ParseInt(string(first), 10, 64); err == nil && ns > 0 {
			out[uint32(tid)] = ns
		}
	}
	return out
}
