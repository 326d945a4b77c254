package collect

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// threadTimes returns how long each thread of a process has run, as of the kernel's last tick, and
// how long each has waited for a core, in ns. Both are empty if the kernel does not tell.
func threadTimes(pid int) (ran, delayed map[uint32]int64) {
	ran, delayed = map[uint32]int64{}, map[uint32]int64{}
	for _, tid := range threadsOf(pid) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
		if err != nil {
			continue
		}
		f := bytes.Fields(b)
		if len(f) < 2 {
			continue
		}
		if ns, err := strconv.ParseInt(string(f[0]), 10, 64); err == nil && ns > 0 {
			ran[uint32(tid)] = ns
		}
		if ns, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil && ns > 0 {
			delayed[uint32(tid)] = ns
		}
	}
	return ran, delayed
}
