package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Loops that a region's beginning or a barrier tells are counted, and so is what comes in between.
// A loop that its region of the user's own surrounds lies in it. No loop's barrier is taken for an
// explicit one.
func TestLoopsBehindEvents(t *testing.T) {
	atOnce(t)
	const src, threads = "told.c", 2
	begin, end := markedLines(t, filepath.Join(testbin.Repo(t), "testdata", "programs", src))
	region := fmt.Sprintf("lines=%s:%d-%s:%d", src, begin["lines"]+1, src, end["lines"]-1)
	for _, b := range []build{{"gcc", "-g -O0"}, {"gcc", "-g -O1"}, {"gcc", "-g -O2"}, {"gcc", "-g -O3"}} {
		for _, flags := range [][]string{{"--region", region}, {"--derive-edges"}, nil} {
			if flags != nil && flags[0] == "--region" && (b.flags == "-g -O0" || b.flags == "-g -O3") {
				continue // the loop's code has lines of others there
			}
			t.Run(fmt.Sprint(b, flags), func(t *testing.T) {
				s := clean(t, options{env: threadsEnv(threads), flags: flags}, testbin.Build(t, src, withMarkers(t, b)))
				complete(t, s.main)
				balanced(t, s.main)
				for _, st := range statements(t, src) {
					got := count(s.main, execC, func(r *profile.Region) bool { return r.Construct == st.kind && r.Location.Begin == st.line })
					want := perThread{}
					for th := range threads {
						if th == 0 || !st.primary {
							want[th] = st.times
						}
					}
					if !got.equal(want) && (got.total() > 0 || !tells(s.main, st.line)) {
						t.Errorf("line %d, %s: got %v, want %v", st.line, st.kind, got, want)
					}
				}
				if n := count(s.main, execC, is(event.Barrier)).total(); n != 0 {
					t.Errorf("%d explicit barriers, want none", n)
				}
				inLoops := 0
				for _, n := range s.main.Nodes {
					if n.Region >= 0 && n.Parent > 0 && s.main.Regions[s.main.Nodes[n.Parent].Region].Construct == event.Loop {
						inLoops++
					}
				}
				if inLoops > 0 {
					t.Errorf("%d regions lie in loops, want none", inLoops)
				}
				if t.Failed() {
					t.Logf("profile:\n%s", dump(s.main))
				}
			})
		}
	}
}

// A program that calls a runtime only if one is there has its other probes from its start on.
func TestRuntimeComesLate(t *testing.T) {
	atOnce(t)
	lib := testbin.Build(t, "libregions.c", testbin.Options{Flags: []string{"-O2", "-g", "-fPIC", "-shared"}})
	bin := testbin.Build(t, "weakomp.c", testbin.Options{Flags: []string{"-g", "-O1"}, NoOpenMP: true})
	s := clean(t, options{env: threadsEnv(2), flags: []string{"--function", "^step$"}}, bin, lib)
	complete(t, s.main)
	sameCounts(t, userCounts(s.main), map[string]uint64{"step": 5})
	compare(t, []check{{name: "PARALLEL", got: count(s.main, execC, parallel), want: perThread{0: 1, 1: 1}}})
}

// A library may switch measuring on while threads wait in a barrier of the program's, so that
// nobody sees them leave it. The loop behind that barrier is counted, if the library is there from
// the start, and if it is loaded later.
func TestLoopsBehindSwitch(t *testing.T) {
	atOnce(t)
	const reps = 5
	lib := testbin.Build(t, "switched.c", withMarkers(t, build{"gcc", "-O1 -g -DLIBRARY -fPIC -shared"}))
	bin := testbin.Build(t, "switched.c", withMarkers(t, build{"gcc", "-O1 -g"}))
	for _, c := range []struct {
		name, preloaded string
		args            []string
	}{{"preloaded", lib, nil}, {"loaded later", "", []string{lib}}} {
		t.Run(c.name, func(t *testing.T) {
			s := clean(t, options{env: append(threadsEnv(2), "LD_PRELOAD="+c.preloaded)}, bin, append([]string{strconv.Itoa(reps)}, c.args...)...)
			compare(t, []check{{name: "LOOP", got: count(s.main, execC, is(event.Loop)), want: perThread{0: reps + 1, 1: reps + 1}}})
			// A thread that begins the region late, behind the switch, shows its own barrier.
			late := count(s.main, execC, is(event.Unknown))[1]
			if n := count(s.main, execC, is(event.Barrier)); n[0] > reps || n[1] > late || len(s.main.Threads) != 2 {
				t.Errorf("explicit barriers: %v of %d threads, want at most %d, and %d of a thread that is late", n, len(s.main.Threads), reps, late)
			}
		})
	}
}
