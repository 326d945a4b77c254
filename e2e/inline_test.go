package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// stated is a construct of which the source says how often each thread executes
// it, behind "//=" in C and "!=" in Fortran.
type stated struct {
	kind    event.Construct
	line    int
	times   uint64
	primary bool // by the primary thread only
}

var (
	statement = regexp.MustCompile(`(?://|!)= (master )?(\d+)`)
	kinds     = []struct {
		words string
		kind  event.Construct
	}{{"master", event.Master}, {"masked", event.Masked}, {"single", event.Single}, {"atomic", event.Atomic}, {"flush", event.Flush}, {"for", event.Loop}, {"do", event.Loop}}
)

func statements(t *testing.T, src string) (out []stated) {
	t.Helper()
	f, err := os.Open(filepath.Join(testbin.Repo(t), "testdata", "programs", src))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		m := statement.FindStringSubmatch(sc.Text())
		if m == nil {
			continue
		}
		n, _ := strconv.ParseUint(m[2], 10, 64)
		words := strings.Fields(sc.Text())
		for _, k := range kinds {
			if slices.Contains(words[:3], k.words) {
				out = append(out, stated{k.kind, line, n, m[1] != ""})
				break
			}
		}
	}
	if len(out) < 5 {
		t.Fatalf("%s states only %d counts", src, len(out))
	}
	return out
}

// tells reports whether the profile says of a line that its construct was not
// seen, or was merged with another one.
func tells(p *profile.Profile, line int) bool {
	whole := regexp.MustCompile(fmt.Sprintf(`\blines?( \d+,)* %d\b`, line))
	for _, u := range p.Unseen {
		if whole.MatchString(u.What) {
			return true
		}
	}
	for _, r := range p.Regions {
		if slices.ContainsFunc(r.Notes, whole.MatchString) {
			return true
		}
	}
	return false
}

// Without the source, loops are found by their shape alone, in stripped programs
// too. In each of the program's functions all loops are executed equally often.
func TestInlineWithoutSource(t *testing.T) {
	atOnce(t)
	times := map[string]uint64{"plain": 1, "repeated": 9, "bounds": 1, "reductions": 9, "masters": 9, "orphan": 9, "orphans": 9, "bodies": 1}
	const threads = 3
	for _, tc := range []struct {
		flags string
		found int // at least so many loops
	}{{"-O0", 20}, {"-O1", 15}, {"-O2", 14}, {"-O3", 14}, {"-O2 -no-pie", 14}} {
		for _, strip := range []string{"", " -s"} {
			t.Run(tc.flags+strip, func(t *testing.T) {
				t.Parallel()
				twin, err := symbols.OpenObject(testbin.Build(t, "inline.c", build{"gcc", tc.flags}.options()))
				if err != nil {
					t.Fatal(err)
				}
				defer twin.Close()
				bin := testbin.Build(t, "inline.c", build{"gcc", tc.flags + strip}.options())
				s := clean(t, options{env: threadsEnv(threads)}, bin)
				complete(t, s.main)
				balanced(t, s.main)
				loops := 0
				for i := range s.main.Regions {
					r := &s.main.Regions[i]
					if r.Construct != event.Loop {
						continue
					}
					loops++
					name, _, _ := twin.FuncAt(r.Location.Offset)
					name, _, _ = strings.Cut(name, ".")
					got := count(s.main, execC, func(x *profile.Region) bool { return x == r })
					want := perThread{}
					for th := range threads {
						want[th] = times[name]
					}
					if !got.equal(want) {
						t.Errorf("%s in %s at %#x: got %v, want %v", r.Construct, name, r.Location.Offset, got, want)
					}
				}
				if loops < tc.found {
					t.Errorf("%d loops found, fewer than %d", loops, tc.found)
				}
				if t.Failed() {
					t.Logf("profile:\n%s", dump(s.main))
				}
			})
		}
	}
}

// Every construct that GCC makes plain instructions of is counted exactly for
// each thread, or named as not seen; none is silently absent or wrong.
func TestInlineCounts(t *testing.T) {
	atOnce(t)
	for _, tc := range []struct {
		build
		src  string
		seen int // at least so many of the constructs are counted
	}{
		{build{"gcc", "-g -O0"}, "inline.c", 31},
		{build{"gcc", "-g -O1"}, "inline.c", 27},
		{build{"gcc", "-g -O2"}, "inline.c", 24},
		{build{"gcc", "-g -O3"}, "inline.c", 23},
		{build{"gcc", "-g -O2 -fno-plt -no-pie"}, "inline.c", 24},
		{build{"gcc", "-g -O2 -static"}, "inline.c", 24},
		{build{"gfortran", "-g -O0"}, "inline.f90", 7},
		{build{"gfortran", "-g -O1"}, "inline.f90", 6},
		{build{"gfortran", "-g -O2"}, "inline.f90", 6},
		{build{"gfortran", "-g -O3"}, "inline.f90", 4},
		{build{"g++", "-g -O0"}, "inline.cpp", 7},
		{build{"g++", "-g -O1"}, "inline.cpp", 7},
		{build{"g++", "-g -O2"}, "inline.cpp", 7},
		{build{"g++", "-g -O3"}, "inline.cpp", 7},
	} {
		for _, threads := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s %s %d", tc.src, tc.build, threads), func(t *testing.T) {
				t.Parallel()
				bin := testbin.Build(t, tc.src, tc.options())
				s := clean(t, options{env: threadsEnv(threads)}, bin)
				complete(t, s.main)
				balanced(t, s.main)
				seen, singles := 0, uint64(0)
				for _, st := range statements(t, tc.src) {
					if st.kind == event.Single {
						singles += st.times
					}
				}
				for _, st := range statements(t, tc.src) {
					got := count(s.main, execC, func(r *profile.Region) bool {
						// The line of single's call is near only: see region.go.
						return r.Construct == st.kind && (r.Location.Begin == st.line || st.kind == event.Single)
					})
					want := perThread{}
					for th := range threads {
						if th == 0 || !st.primary {
							want[th] = st.times
						}
						if st.kind == event.Single {
							want[th] = singles
						}
					}
					switch {
					case got.equal(want):
						seen++
					case got.total() > 0 || !tells(s.main, st.line):
						t.Errorf("line %d, %s: got %v, want %v, and nothing is said of it", st.line, st.kind, got, want)
					}
				}
				if seen < tc.seen {
					t.Errorf("%d constructs are counted, fewer than %d", seen, tc.seen)
				}
				t.Logf("%d of %d constructs counted exactly, the others named", seen, len(statements(t, tc.src)))
				if t.Failed() {
					t.Logf("profile:\n%s", dump(s.main))
				}
			})
		}
	}
}

// Atomics and flushes are counted exactly, once per execution and not per retry
// of a compare-and-swap, or named as not seen.
func TestAtomicCounts(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-g -O0"}, {"gcc", "-g -O2"}, {"gcc", "-g -O3"}, {"clang-14", "-g -O0"}, {"clang-14", "-g -O2"}, {"clang-19", "-g -O2"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "atomics.c", b.options())
			s := clean(t, options{env: threadsEnv(4), flags: []string{"--probe-atomics"}}, bin)
			complete(t, s.main)
			seen := 0
			for _, st := range statements(t, "atomics.c") {
				got := count(s.main, execC, func(r *profile.Region) bool {
					return r.Construct == st.kind && r.Location.Begin == st.line
				})
				switch {
				case got.total() == st.times:
					seen++
				case got.total() > 0 || !tells(s.main, st.line):
					t.Errorf("line %d, %s: got %d %v, want %d, and nothing is said of it", st.line, st.kind, got.total(), got, st.times)
				}
			}
			if seen < 7 {
				t.Errorf("%d constructs are counted, want 7", seen)
			}
			if t.Failed() {
				t.Logf("profile:\n%s", dump(s.main))
			}
		})
	}
}

// An atomic write that is seq_cst is counted, be it an exchange or a move and a fence. Other
// writes, and reads, are plain moves: these are named.
func TestSeqCstWrites(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-g -O0"}, {"gcc", "-g -O3"}, {"gcc", "-g -O3 -mtune=silvermont"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "seqcst.c", b.options())
			s := clean(t, options{env: threadsEnv(2), flags: []string{"--probe-atomics"}}, bin)
			var got []string
			for _, r := range s.main.Regions {
				if r.Construct == event.Atomic {
					n := count(s.main, execC, func(x *profile.Region) bool {
						return x.Construct == r.Construct && x.Location.Begin == r.Location.Begin
					})
					got = append(got, fmt.Sprintf("%d: %d", r.Location.Begin, n.total()))
				}
			}
			if !slices.Equal(got, []string{"12: 2000"}) {
				t.Errorf("counted: %q", got)
			}
			const told = "atomic at seqcst.c (14), seqcst.c (16)"
			if !slices.ContainsFunc(s.main.Unseen, func(u profile.Unseen) bool { return u.What == told && strings.Contains(u.Reason, "plain moves") }) {
				t.Errorf("not told: %+v", s.main.Unseen)
			}
		})
	}
}

// A loop's time is its work, and the wait for the slowest its exitBarT: every
// thread works for as long as its number says.
func TestInlineTimes(t *testing.T) {
	const threads, reps, unit = 3, 5, 20e6 // ns
	for _, flags := range []string{"-g -O0", "-g -O2", "-O2 -s"} {
		t.Run(flags, func(t *testing.T) {
			bin := testbin.Build(t, "imbalance.c", build{"gcc", flags}.options())
			timed(t, func() func(time.Duration) []string {
				s := clean(t, options{env: threadsEnv(threads)}, bin)
				return func(late time.Duration) (wrong []string) {
					loops := 0
					for i := range s.main.Nodes {
						n := &s.main.Nodes[i]
						if n.Region < 0 || s.main.Regions[n.Region].Construct != event.Loop {
							continue
						}
						loops++
						for _, st := range n.Stats {
							num := s.main.Threads[st.Thread].Num
							body, wait := float64(num+1)*unit*reps, float64(threads-num-1)*unit*reps
							if st.Barrier.C == 0 {
								wait = 0 // nowait
							}
							for what, d := range map[string][2]float64{"bodyT": {float64(st.Body.T), body}, "exitBarT": {float64(st.Barrier.T), wait}} {
								if d[0] < d[1]-unit-float64(late) || d[0] > d[1]+unit+float64(late) {
									wrong = append(wrong, fmt.Sprintf("thread %d: %s %.1f ms, want %.1f ms", num, what, d[0]/1e6, d[1]/1e6))
								}
							}
						}
					}
					if loops != 2 {
						t.Fatalf("%d loops, want 2:\n%s", loops, dump(s.main))
					}
					return wrong
				}
			})
		})
	}
}
