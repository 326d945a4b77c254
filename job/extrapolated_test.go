package job

import (
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// The job names the ranks with figures that are extrapolated in part.
func TestExtrapolatedRanksAreTold(t *testing.T) {
	profiles := toyJob(0, 0, 0)
	for _, r := range []int{1, 2} {
		profiles[r].Meta.Observations = []profile.Observation{{Name: "lock", Of: event.SetOf(event.Lock), Gaps: 2}, {Of: event.SetOf(event.Critical, event.Flush), Gaps: 1}}
	}
	text := strings.Join(read(t, sources(t, profiles), Options{}).Troubles(), "\n")
	if !strings.Contains(text, "Ranks 1-2 (2) have constructs that were not observed for some of the time") || !strings.Contains(text, "lock, CRITICAL, FLUSH") {
		t.Errorf("the job's troubles:\n%s", text)
	}
}
