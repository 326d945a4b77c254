package efficiency

import (
	"fmt"
	"slices"
	"strings"
)

// Crowding is the least share of time without a core for which a run is marked.
const Crowding = 0.01

// Crowded says whether threads lacked cores for so long that the run does not show what the program
// can do.
func (x *Scaled) Crowded() bool { return x.NoCore >= Crowding }

// Differ returns a sentence if the runs' values of something (what) differ. meaning says what
// follows from the difference. Differ returns "" if the values are the same.
func Differ(labels, values []string, what, meaning string) string {
	var parts []string
	for i, v := range values {
		if !slices.Contains(values[:i], v) {
			parts = append(parts, fmt.Sprintf("%s: %s", labels[i], v))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	const few = 4
	if more := len(parts) - few; more > 0 {
		parts = append(parts[:few], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("The runs differ in %s (%s). %s", what, strings.Join(parts, "; "), meaning)
}

// Troubles returns sentences about runs that cannot be compared with each other, or that were
// disturbed.
func (s *Scaling) Troubles() (out []string) {
	differ := func(what, meaning string, of func(*Scaled) string) {
		var labels, values []string
		for i := range s.Runs {
			labels, values = append(labels, s.Runs[i].Label), append(values, of(&s.Runs[i]))
		}
		if t := Differ(labels, values, what, meaning); t != "" {
			out = append(out, t)
		}
	}
	differ("the program", "Figures of different programs do not belong together.", func(x *Scaled) string { return x.Program })
	meaning := "If the input differs, the runs show no strong scaling."
	if s.Weak {
		meaning = "For weak scaling that is right if the work of a thread stayed the same."
	}
	differ("the arguments", meaning, func(x *Scaled) string { return "\"" + x.Processes[0].Args + "\"" })
	differ("the machine", "Times of different machines do not compare.", func(x *Scaled) string { return x.Processes[0].Host })
	if s.Weak && s.Runs[0].All == s.Runs[len(s.Runs)-1].All {
		out = append(out, "All runs have as many threads, so they show no weak scaling.")
	}
	var labels []string
	for i := range s.Runs {
		if x := &s.Runs[i]; x.Crowded() {
			labels = append(labels, fmt.Sprintf("%s (%.0f%% of its threads' time)", x.Label, 100*x.NoCore))
		}
	}
	if len(labels) > 0 {
		out = append(out, "Threads lacked cores in "+strings.Join(labels, ", ")+": these runs (!) had more threads than free cores, and say little about the program.")
	}
	for i := range s.Runs {
		x := &s.Runs[i]
		if x.Missing > 0 {
			out = append(out, fmt.Sprintf("%s lacks %d of its ranks (?): the others stand for them.", x.Label, x.Missing))
		}
		if x.Estimated() {
			out = append(out, fmt.Sprintf("Figures of %s hold estimates, because constructs were not observed all of the time.", x.Label))
		}
	}
	return out
}
