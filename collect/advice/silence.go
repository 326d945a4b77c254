package advice

import "fmt"

// Silence returns the warning for a process that was attached to, and from which no event came. No
// probe can tell where its threads were all the time.
func Silence(threads int) string {
	who, were := "its thread", "was"
	if threads > 1 {
		who, were = fmt.Sprintf("its %d threads", threads), "were"
	}
	return fmt.Sprintf("No region, construct or call began or ended while the process was measured. So the report is empty: %s %s outside of all constructs, or in one all the time, and nobody can tell which. Measure for longer, or use --sample task-clock, which shows where threads compute.", who, were)
}
