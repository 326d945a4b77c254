package control

import "fmt"

// MeasuredTwice says that another run of this user measures a process that this one is about to
// measure; "": none does. Runs of other users cannot be asked.
func MeasuredTwice(pid int) string {
	if _, err := Find(pid); err != nil {
		return ""
	}
	return fmt.Sprintf("Process %d is measured by another run of ompp-attach already: it pays for the probes of both, and its times in both reports are too long. `ompp-attach top --pid %d` or `ompp-attach dump --pid %d` show what the other run measures, at no further cost.",
		pid, pid, pid)
}
