package advice

import "fmt"

// Silence returns the warning for a process that was attached to, and from which no event came. No
// probe can tell where its threads were all the time. If it was sampled, its samples tell more.
func Silence(threads int, sampled bool) string {
	who, were := "its thread", "was"
	if threads > 1 {
		who, were = fmt.Sprintf("its %d threads", threads), "were"
	}
	where := "and nobody can tell which. Measure for longer, or use --sample task-clock, which shows where threads compute."
	if sampled {
		where = "and no probe can tell which. Section \"Hottest Lines\" says where threads computed. Measure for longer to see the regions, too."
	}
	return fmt.Sprintf("No region, construct or call began or ended while the process was measured. So the report is empty: %s %s outside of all constructs, or in one all the time, %s", who, were, where)
}
