package attribution

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ompp-attach/profile"
)

// byPlace sums a profile's figures by what names a call path and a thread for a reader.
func byPlace(p *profile.Profile, to map[string]profile.ThreadStats) {
	paths := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if i > 0 {
			r := p.Regions[n.Region]
			paths[i] = fmt.Sprint(paths[n.Parent], "/", r.Construct, r.Name, r.Location.Object, r.Location.Offset, r.Location.Begin)
		}
		for _, s := range n.Stats {
			k := fmt.Sprint(paths[i], " ", p.Threads[s.Thread].Num)
			sum := to[k]
			s.Estimate = nil
			sum.Add(&s)
			sum.Thread = 0
			to[k] = sum
		}
	}
}

// The windows between snapshots add up to the final profile, whatever the program did, and each of
// them is a profile that can be recorded.
func TestWindowsAddUp(t *testing.T) {
	start := time.Unix(1000, 0)
	windows := 0
	recordings(t, func(name string, r recording) {
		e := r.begin()
		var shots []*profile.Profile
		every := max(1, len(r.events)/5)
		note := func(p *profile.Profile, last bool) {
			p.Meta.Start = start
			if !last {
				p.Meta.SnapshotAt = start.Add(time.Duration(len(shots) + 1))
			}
			shots = append(shots, p)
		}
		for i := range r.events {
			if i%every == every-1 {
				p, _ := e.Copy(r.files).Snapshot(r.events[i].Time)
				note(p, false)
			}
			e.Feed(&r.events[i])
		}
		note(e.Finish(r.end), true)
		final, sum := map[string]profile.ThreadStats{}, map[string]profile.ThreadStats{}
		byPlace(shots[len(shots)-1], final)
		var duration int64
		byPlace(shots[0], sum)
		for i := 1; i < len(shots); i++ {
			w, err := profile.Window(shots[i], shots[i-1])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := profile.Validate(w); err != nil {
				t.Errorf("%s: window %d: %v", name, i, err)
			}
			byPlace(w, sum)
			duration += w.Meta.Duration
			windows++
		}
		for k, want := range final {
			got := sum[k]
			if !strings.HasPrefix(name, "seed") && !strings.HasSuffix(name, ".gz") {
				// In some of these cases what was open at a snapshot turns out to
				// be no execution. An example is a test of a lock that fails.
				if got.Exec.C < want.Exec.C || got.Exec.T < want.Exec.T {
					t.Errorf("%s: %s: windows add up to %+v, less than %+v", name, k, got, want)
				}
				continue
			}
			if got.Exec != want.Exec || got.Body != want.Body || got.Barrier != want.Barrier || got.Child != want.Child || got.Task != want.Task {
				t.Errorf("%s: %s: windows add up to %+v, want %+v", name, k, got, want)
			}
		}
	})
	if windows < 100 {
		t.Errorf("%d windows", windows)
	}
}
