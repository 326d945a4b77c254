package firefox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"ompp-attach/report/words"
	"ompp-attach/timeline"
)

// addCounters adds the counters of a process to those that markers may have.
func (x *writer) addCounters(f *timeline.File) {
	if f.Counting == nil {
		return
	}
	for i := range f.Counting.Counters {
		if name := words.Clean(f.CounterName(i)); !slices.Contains(x.counters, name) {
			x.counters = append(x.counters, name)
		}
	}
}

// counterKey names the n-th counter in markers.
func counterKey(n int) string { return fmt.Sprintf("counter%d", n+1) }

// counts returns the counters of an execution, as members of the marker's JSON.
func (t *thread) counts(s *timeline.Span) (out []string) {
	if s.Counts == nil || t.file.Counting == nil {
		return nil
	}
	for i := range t.file.Counting.Counters {
		if n, ok := t.file.Count(s.Counts.All, i); ok {
			key := counterKey(slices.Index(t.counters, words.Clean(t.file.CounterName(i))))
			out = append(out, fmt.Sprintf(`"%s":%d`, key, int64(math.Round(n))))
		}
	}
	return out
}

// payload writes what a marker tells.
func (x *writer) payload(p *payload) {
	b, err := json.Marshal(p)
	if x.err == nil {
		x.err = err
	}
	b = bytes.TrimSuffix(b, []byte("}"))
	for _, member := range p.counts {
		b = append(append(b, ','), member...)
	}
	x.text(string(append(b, '}')))
}
