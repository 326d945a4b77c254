package results

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
)

// A claim is needed until no process of the job can start another measurement: a rank may be a
// script that runs several programs. Such a script, and a rank's tool, are above the program, and
// have the job's name in their environment. The launcher has not.

// patience is how long a job's last processes have to end after their programs.
const patience = time.Second

// above returns the processes above a rank's program that belong to the job.
func above(pid int, job string) (pids []int) {
	const deepest = 64
	for range deepest {
		if pid = target.ParentOf(pid); pid <= 1 {
			break
		}
		// The tool's own environment may not be readable, since it has capabilities.
		if r, ok := launch.RankOf(pid); len(pids) > 0 && (!ok || r.Job != job) {
			break
		}
		pids = append(pids, pid)
	}
	return pids
}

// Release removes the claims of a job if nothing is left of the job. It comes after Leave, and
// waits a moment for the job's last processes. A job with ranks on other nodes keeps its claims:
// nobody knows when those end.
func (c *Claims) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for began := time.Now(); !c.over(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			return
		}
	}
	for dir := range c.done {
		if len(c.ranks[dir]) == c.size && c.job != "" {
			_ = os.Remove(filepath.Join(dir, claimName(c.job)))
		}
	}
}

// over reports whether all processes above the programs are gone.
func (c *Claims) over() bool {
	for pid := range c.above {
		if !hasEnded(pid) {
			return false
		}
	}
	return true
}

// hasEnded reports whether a process has ended. Its parent may not have waited for it yet.
func hasEnded(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return true
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	name := bytes.LastIndexByte(stat, ')')
	return name >= 0 && bytes.HasPrefix(stat[name:], []byte(") Z"))
}
