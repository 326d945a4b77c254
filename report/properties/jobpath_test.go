package properties

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ompp-attach/severity"
)

// TestJobPath: text and JSON have the critical path of a job.
func TestJobPath(t *testing.T) {
	c := severity.Of(barriers(2, 50), severity.Options{})
	if strings.Contains(write(t, "json", c, options(true)), "job_path") || strings.Contains(write(t, "text", c, options(true)), "Critical path of the job") {
		t.Error("a process has a job's path")
	}
	for i, v := range []int64{600, 40, 30} {
		id := []string{severity.JobCritical, severity.JobImbalance, severity.JobSaving}[i] + ".before"
		c.Values = append(c.Values, severity.Value{Property: c.Property(id), Path: 1, V: v})
	}
	c.Values = append(c.Values, severity.Value{Property: c.Property(severity.JobCritical + ".call"), Path: 1, V: 300},
		severity.Value{Property: c.Property(severity.RankDelay + ".before"), Path: 1, V: 250}, severity.Value{Property: c.Property(severity.RankFar + ".call"), Path: 1, V: 200})
	slices.SortFunc(c.Values, func(a, b severity.Value) int { return cmp.Or(a.Property-b.Property, a.Path-b.Path) })
	c.Processes[0].Rank = 7
	c.JobPath = &severity.JobPath{Length: 1000, Unknown: 100, Bound: 12, Turns: 3, Phases: 2}
	text := strings.Join(strings.Fields(write(t, "text", c, options(true))), " ")
	for _, want := range []string{"the path's length ± 0.1 us. The path changed the rank 3 times.", "60.0 % before", "rank 7 (", "more than the mean of all ranks; perfect balance here saves at most",
		"30.0 % in ", "10.0 % not known",
		"Delays between ranks: where a late rank", "rank 7 before", "Long-term delays between ranks", "rank 7 in "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	var f struct {
		JobPath json.RawMessage `json:"job_path"`
	}
	if err := json.Unmarshal([]byte(write(t, "json", c, options(false))), &f); err != nil {
		t.Fatal(err)
	}
	const want = `{"length_ns":1000,"unknown_ns":100,"bound_ns":12,"turns":3,"phases":2,"parts":[` +
		`{"path":1,"in_call":false,"time_ns":600,"imbalance_ns":40,"saves_at_most_ns":30,"ranks":[[7,600]]},` +
		`{"path":1,"in_call":true,"time_ns":300,"imbalance_ns":0,"saves_at_most_ns":0,"ranks":[[7,300]]}]}`
	if got := strings.Join(strings.Fields(string(f.JobPath)), ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
