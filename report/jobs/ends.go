package jobs

import (
	"fmt"
	"strings"
	"time"

	"ompp-attach/job"
	"ompp-attach/report/words"
)

// ends writes how the ranks ended, unless all of them ended well. It is the report's first section.
func (t *jobText) ends() {
	fates := t.j.Fates()
	if len(fates) == 0 || fates[0].Well && fates[0].Until.IsZero() {
		return
	}
	t.printf("Not all ranks ended well:\n")
	for _, f := range fates {
		t.printf("  %-16s %s\n", who(f.Ranks), fateText(&f))
	}
	t.printf("\n")
}

// howItEnded returns the header's lines on how the ranks ended; nil if ends has written them.
func (t *jobText) howItEnded() (text string) {
	fates := t.j.Fates()
	if len(fates) != 1 || !fates[0].Well || !fates[0].Until.IsZero() || fates[0].Ended == "" {
		return ""
	}
	return "all ranks: " + fates[0].Ended
}

func who(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + strings.Join(job.Spans(ranks), ",")
}

func fateText(f *job.Fate) string {
	text := f.Ended
	if text == "" {
		text = "not known"
	}
	after := f.First.Round(10 * time.Millisecond).Seconds()
	switch {
	case !f.Until.IsZero():
		return text + ": of the measurement there is a snapshot only, until " + f.Until.Local().Format(words.SnapshotTime)
	case f.Well:
		return text
	case len(f.Ranks) == 1:
		return fmt.Sprintf("%s, after %.2f sec", text, after)
	}
	return fmt.Sprintf("%s, the first after %.2f sec", text, after)
}
