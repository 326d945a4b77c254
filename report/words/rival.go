package words

import "fmt"

// toolName is the name by which the kernel knows processes of this tool.
const toolName = "ompp-attach"

// Rival names a process that had a core for which threads were ready. If that process is this tool,
// Rival says so. host is the machine; empty: there is only one.
func Rival(name string, pid int, host string) string {
	process := fmt.Sprintf("process %d", pid)
	if host != "" {
		process += " on " + host
	}
	if name == toolName {
		process = "this tool, " + process
	}
	return fmt.Sprintf("%s (%s)", name, process)
}
