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

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
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
	}{{"master", event.Master}, {"masked", event.Masked}, {"single", event.Single}, {"for", event.Loop}, {"do", event.Loop}}
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

// named reports whether the profile says of a line that its construct was not
// seen, or was merged with another one.
func tells(p *attribution.Profile, line int) bool {
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

// Every construct that GCC makes plain instructions of is counted exactly for
// each thread, or named as not seen; none is silently absent or wrong.
func TestInlineCounts(t *testing.T) {
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
	} {
		for _, threads := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s %s %d", tc.src, tc.build, threads), func(t *testing.T) {
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
					got := count(s.main, execC, func(r *attribution.Region) bool {
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
