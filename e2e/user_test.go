package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// allFunctions selects the functions of functions.cpp that count themselves.
var allFunctions = []string{"--function", "^(descend|fib|even|odd|jumper|setter|chain.|choose|leaf|early|on_stack|entry|switcher|big|holder|on_thread)$", "--function", `^ns::(thrower|passer|catcher|rethrow|Derived::call)$`}

// userCounts are the executions of user regions by name, without scope.
func userCounts(p *profile.Profile) map[string]uint64 {
	out := map[string]uint64{}
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Construct != event.UserRegion {
			continue
		}
		name := p.Regions[n.Region].Name
		name = name[strings.LastIndex(name, ":")+1:]
		for _, s := range n.Stats {
			out[name] += s.Exec.C
		}
	}
	return out
}

// printedCounts reads lines "NAME COUNT".
func printedCounts(t *testing.T, text string) map[string]uint64 {
	t.Helper()
	out := map[string]uint64{}
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		name, count, _ := strings.Cut(l, " ")
		n, err := strconv.ParseUint(count, 10, 64)
		if err != nil || n == 0 {
			t.Fatalf("the program printed %q", l)
		}
		out[name] = n
	}
	return out
}

func sameCounts(t *testing.T, got, want map[string]uint64) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d executions, the program counted %d", name, got[name], n)
		}
	}
	for name, n := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %d executions of what the program does not count", name, n)
		}
	}
}

// Functions that are called recursively, in regions, on threads and on other
// stacks, and left by return, tail call, exception and longjmp.
func TestFunctions(t *testing.T) {
	atOnce(t)
	const reps, depth = 2, 2000
	for _, tc := range []struct {
		build
		threads int
	}{
		{build{"g++", "-O2 -g"}, 2},
		{build{"g++", "-O2 -g"}, 4},
		{build{"g++", "-O0"}, 2},
		{build{"g++", "-O3 -no-pie -fno-plt"}, 2},
		{build{"g++", "-O3 -static"}, 2},
		{build{"clang++-19", "-O3"}, 2},
		{build{"clang++-19", "-O0 -g"}, 4},
		{build{"clang++-14", "-O2"}, 2},
	} {
		if testing.Short() && tc.threads == 4 {
			continue
		}
		t.Run(fmt.Sprintf("%s threads=%d", tc.build, tc.threads), func(t *testing.T) {
			t.Parallel()
			bin := testbin.Build(t, "functions.cpp", tc.options())
			s := clean(t, options{env: threadsEnv(tc.threads), flags: allFunctions}, bin, strconv.Itoa(reps), strconv.Itoa(depth))
			complete(t, s.main)
			balanced(t, s.main)
			sameCounts(t, userCounts(s.main), printedCounts(t, s.stdout))
			// What is left by a throw in a region leaves the region intact.
			catchers := perThread{}
			for th := range tc.threads {
				catchers[th] = reps
			}
			compare(t, []check{{name: "CRITICAL", got: count(s.main, execC, is(event.Critical)), want: catchers}})
			if t.Failed() {
				t.Logf("unmatched %d, partial %d", s.main.Meta.Unmatched, s.main.Meta.Partial)
			}
		})
	}
}

// A wrong name ends the launched program before it runs, and says what may
// have been meant; so does a pattern that matches too much.
func TestFunctionNotFound(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "functions.cpp", testbin.Options{Compiler: "g++"})
	for _, tc := range []struct{ function, want string }{
		{"decsend", "near names: descend"},
		{"^catchr", "near names: ns::catcher"},
		{"nothing_like_it", "matches no function of the program and its own libraries;"},
		{"omp_set_lock", "write --function omp_set_lock@libgomp"},
		{"(", "no regular expression"},
	} {
		s := run(t, options{flags: []string{"--function", tc.function}}, bin, "1")
		if s.exit == 0 || s.main != nil || s.stdout != "" || !strings.Contains(s.stderr, tc.want) || strings.Count(s.stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, profile: %t, stdout %q, stderr %q, want %q", tc.function, s.exit, s.main != nil, s.stdout, s.stderr, tc.want)
		}
	}
	many := manyFunctions(t, 10_000)
	s := run(t, options{flags: []string{"--function", "."}}, many)
	if s.exit == 0 || s.main != nil || s.stdout != "" || !strings.Contains(s.stderr, "at most") {
		t.Errorf("10,000 functions: exit status %d, stdout %q, stderr %q", s.exit, s.stdout, s.stderr)
	}
	s = clean(t, options{flags: []string{"--function", "^f99.$"}}, many)
	if got := userCounts(s.main); len(got) != 10 || got["f990"] != 1 {
		t.Errorf("^f99.$: %v", got)
	}
}

// manyFunctions builds a program of n functions f0 to fn-1, each called once.
func manyFunctions(t *testing.T, n int) string {
	t.Helper()
	var src strings.Builder
	src.WriteString("#include <stdio.h>\nvolatile int v;\n")
	for i := range n {
		fmt.Fprintf(&src, "__attribute__((noinline)) void f%d(void) { v = %d; }\n", i, i)
	}
	src.WriteString("int main(void) {\n#pragma omp parallel num_threads(2)\nv = 1;\n")
	for i := range n {
		fmt.Fprintf(&src, "f%d();\n", i)
	}
	src.WriteString("puts(\"done\"); return 0; }\n")
	return testbin.BuildFile(t, testbin.Source(t, "many.c", src.String()), testbin.Options{Flags: []string{"-O1"}})
}
