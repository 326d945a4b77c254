package jobs

import (
	"fmt"
	"io"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/tables"
	"ompp-attach/report/words"
)

// WriteBy writes a table of the time of all ranks together, in one of tables.Formats. A thread is
// shown as RANK:THREAD. job.Together must have had the same options Raw and Classic.
func WriteBy(w io.Writer, all *job.All, by tables.By, format string, o report.Options) error {
	name := func(t profile.Thread) string { return fmt.Sprintf("%d:%s", all.Rank(t), words.Thread(all.InRank(t))) }
	return report.WriteRanksBy(w, all.Profile, name, all.Hidden, by, format, o)
}
