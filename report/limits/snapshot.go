package limits

import (
	"fmt"

	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// SnapshotText says what a snapshot lacks; "" if the profile is complete.
func SnapshotText(p *profile.Profile) string {
	m := &p.Meta
	if m.SnapshotAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("this is a snapshot of a measurement that went on: what came after %s (%s sec) is missing",
		m.SnapshotAt.Local().Format(words.SnapshotTime), words.ClockOf(p).Seconds(MeasuredDuration(p), 0))
}

// SnapshotNotes returns that text as a note, which comes before all other notes.
func SnapshotNotes(p *profile.Profile) []string {
	if text := SnapshotText(p); text != "" {
		return words.Bullets("This report is not complete:", []string{text + "; regions that were open then are counted, with their time until then"})
	}
	return nil
}
