package live

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
	"ompp-attach/attribution/streamtest"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// windows replays a recorded run in n windows, and returns their updates and the final profile.
func windows(t *testing.T, name string, n int) (updates []*Update, final *profile.Profile) {
	t.Helper()
	s := streamtest.Read(t, name)
	slices.SortStableFunc(s.Events, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
	var tr Tracker
	start := time.Unix(1000, 0)
	for i := 1; i < n; i++ {
		part := *s
		part.Events = s.Events[:len(s.Events)*i/n]
		part.End = part.Events[len(part.Events)-1].Time
		p := attribution.Replay(&part)
		p.Meta.SnapshotAt = start.Add(time.Duration(i))
		updates = append(updates, tr.Next(p.Meta.SnapshotAt, []*profile.Profile{p}, false))
	}
	final = attribution.Replay(s)
	final.Meta.Ended = "exit 0"
	return append(updates, tr.Next(start.Add(time.Hour), []*profile.Profile{final}, true)), final
}

// The windows of a run add up to the analysis of its final profile: in all, by region, and by
// thread.
func TestWindowsAddUp(t *testing.T) {
	names, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		updates, final := windows(t, name, 7)
		var whole Times
		regions := map[string]Figures{}
		threads := map[string]Times{}
		for _, f := range updates {
			whole.add(f.Window)
			for _, r := range f.Regions {
				sum := regions[r.Construct+r.Title]
				sum.Times.add(r.Window.Times)
				sum.Count += r.Window.Count
				regions[r.Construct+r.Title] = sum
				var in Times
				for _, th := range r.Threads {
					in.add(th.Window)
				}
				if in != r.Window.Times {
					t.Errorf("%s: %s: threads add up to %+v, the region has %+v", name, r.Title, in, r.Window.Times)
				}
			}
			for _, th := range f.Threads {
				sum := threads[th.Name]
				sum.add(th.Window)
				threads[th.Name] = sum
			}
		}
		last := updates[len(updates)-1]
		if whole != last.Total || !last.Final {
			t.Errorf("%s: windows add up to %+v, want %+v", name, whole, last.Total)
		}
		var byThread Times
		for _, sum := range threads {
			byThread.add(sum)
		}
		if byThread != whole {
			t.Errorf("%s: threads add up to %+v, want %+v", name, byThread, whole)
		}
		adjusted := analysis.Adjust(final)
		flat, want := analysis.Flat(adjusted), map[string]Figures{}
		for _, c := range analysis.Costs(adjusted) {
			r := &adjusted.Regions[c.Region]
			o := c.Overhead
			f := want[r.Construct.String()+Title(r)]
			f.Times.add(Times{Work: c.Exclusive - o.Sum(), Synch: o.Synch, Imbal: o.Imbal, Limpar: o.Limpar, Mgmt: o.Mgmt, MPI: o.MPI, NoCore: o.NoCore})
			f.Count += int64(flat[c.Region].Sum.Exec.C)
			want[r.Construct.String()+Title(r)] = f
		}
		for k, w := range want {
			if regions[k] != w {
				t.Errorf("%s: %s: windows add up to %+v, the final profile has %+v", name, k, regions[k], w)
			}
		}
	}
}

// While a process ends, snapshots do not have it. Its figures stay as they are, and nothing is
// counted twice.
func TestMissingProcess(t *testing.T) {
	p := func(ns int64) *profile.Profile {
		return &profile.Profile{Meta: profile.Meta{Target: profile.Target{PID: 7}, Life: profile.Life{Duration: 2 * ns}}, Threads: []profile.Thread{{}},
			Regions: []profile.Region{{Construct: event.Critical, Name: "c"}},
			Nodes:   []profile.Node{{Parent: -1, Region: -1}, {Region: 0, Stats: []profile.ThreadStats{{Exec: profile.Sum{T: ns, C: 3}, Body: profile.Sum{T: ns}}}}}}
	}
	var tr Tracker
	tr.Next(time.Time{}, []*profile.Profile{p(100)}, false)
	if f := tr.Next(time.Time{}, nil, false); f.Window != (Times{}) || f.Total.Work != 100 || f.Regions[0].Total.Count != 3 {
		t.Errorf("without the process: %+v", f)
	}
	f := tr.Next(time.Time{}, []*profile.Profile{p(150)}, true)
	if f.Window.Work != 50 || f.Window.Serial != 50 || f.Regions[0].Window.Own() != 50 || f.Wall != 100 {
		t.Errorf("in the end: %+v %+v", f, f.Regions[0])
	}
	other := p(10)
	other.Meta.PID = 8
	f = tr.Next(time.Time{}, []*profile.Profile{p(150), other}, true)
	if len(f.Processes) != 2 || f.Window.Work != 10 || f.Total.Work != 160 || f.Regions[0].Threads[1].Total.Work != 10 {
		t.Errorf("with another process: %+v", f)
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		t    Times
		want string
	}{{Times{Work: 2, Serial: 2, MPI: 3}, "working"}, {Times{Synch: 2, Limpar: 2, Work: 3}, "waiting"}, {Times{MPI: 1}, "MPI"},
		{Times{Idle: 5, Work: 1}, "idle"}, {Times{NoCore: 5, Work: 1}, "no core"}, {Times{Mgmt: 1}, "runtime"}, {Times{}, "-"}} {
		if got := stateOf(&c.t); got != c.want {
			t.Errorf("%+v: %s, want %s", c.t, got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	f := &Update{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Wall: 1e9, Window: Times{Work: 60, Imbal: 50, Mgmt: -10}, Final: true,
		Regions: []*Region{{Construct: "LOOP", Title: "a.c (1)", Window: Figures{Times: Times{Work: 50}}}, {Construct: "LOOP", Title: "b.c (1)"}}}
	var b bytes.Buffer
	if err := WriteLine(&b, f); err != nil || b.String() != "03:04:05 1.00s work 60.0% imbal 50.0% | LOOP a.c (1) 50.0% | final\n" {
		t.Errorf("%v %q", err, b.String())
	}
	b.Reset()
	short := *f
	short.Wall = 49e6
	if err := WriteLine(&b, &short); err != nil || b.String() != "03:04:05 0.05s too short for shares | final\n" {
		t.Errorf("%v %q", err, b.String())
	}
	b.Reset()
	f.Regions[0].Title = "<x>\"\n"
	if err := WriteJSON(&b, f); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%v %q", err, b.String())
	}
	// The older name.
	if !strings.Contains(b.String(), `"no_core":0`) || !strings.Contains(b.String(), `"nocore":0`) {
		t.Errorf("%q", b.String())
	}
	var back Update
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Window != f.Window || back.Regions[0].Title != f.Regions[0].Title {
		t.Errorf("%v %+v", err, back)
	}
}

// TestFiguresAsJSON: a region's figures are its times, by the names of this and of older versions,
// and its executions.
func TestFiguresAsJSON(t *testing.T) {
	b, err := json.Marshal(Region{Window: Figures{Times: Times{Work: 5, NoCore: 7}, Count: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Window map[string]int64 `json:"window"`
	}
	if err := json.Unmarshal(b, &got); err != nil || got.Window["work"] != 5 || got.Window["no_core"] != 7 || got.Window["nocore"] != 7 || got.Window["count"] != 3 {
		t.Errorf("%s: %v", b, err)
	}
}

// If nothing began or ended so far, threads may be in a region that began before measurement.
func TestLineOfSilence(t *testing.T) {
	var b strings.Builder
	f := &Update{Wall: 1e9, Window: Times{Serial: 1e9}, Total: Times{Serial: 3e9}}
	if err := WriteLine(&b, f); err != nil || !strings.HasSuffix(b.String(), " 1.00s no construct or call has begun or ended yet\n") {
		t.Errorf("%v: %s", err, b.String())
	}
}
