package report

import (
	"fmt"

	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// snapshotText says what a snapshot lacks; "" if the profile is complete.
func snapshotText(p *profile.Profile) string {
	m := &p.Meta
	if m.SnapshotAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("this is a snapshot of a measurement that went on: what came after %s (%s sec) is missing",
		m.SnapshotAt.Local().Format(words.SnapshotTime), clockOf(p).seconds(measuredDuration(p), 0))
}

// snapshotNotes returns that text as a note, which comes before all other notes.
func snapshotNotes(p *profile.Profile) []string {
	if text := snapshotText(p); text != "" {
		return bullets("This report is not complete:", []string{text + "; regions that were open then are counted, with their time until then"})
	}
	return nil
}
