package collect

import "path/filepath"
import "os"
import "fmt"

// CheckTarget looks at a process before it is attached to.
func CheckTarget(pid int) (program string, err error) {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return filepath.Base(exe), err
}
