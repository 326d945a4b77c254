package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// check is one equation between the profile and the truth.
type check struct {
	name string
	got  perThread
	want perThread
	// totals: which thread executes it is not the same in every run.
	totals bool
}

func compare(t *testing.T, checks []check) {
	t.Helper()
	for _, c := range checks {
		same := c.got.equal(c.want)
		if c.totals {
			same = c.got.total() == c.want.total()
		}
		if !same {
			t.Errorf("%s: got %d %v, want %d %v", c.name, c.got.total(), c.got, c.want.total(), c.want)
		}
	}
}

// sum adds up the truth's counts of all names that match.
func sum(c testbin.Counts, match func(string) bool) perThread {
	out := perThread{}
	for name, threads := range c {
		if match(name) {
			for th, n := range threads {
				if n > 0 {
					out[th] += n
				}
			}
		}
	}
	return out
}

func named(names ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(names, s) }
}

func startsEnds(prefix, suffix string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, prefix) && strings.HasSuffix(s, suffix) }
}

func plus(ps ...perThread) perThread {
	out := perThread{}
	for _, p := range ps {
		for th, n := range p {
			out[th] += n
		}
	}
	return out
}

func both(name string) func(string) bool { return named(name, name+"_") } // C and Fortran

// inlined knows the loops that make no call.
func inlined(r *profile.Region) bool { return slices.Contains(r.Notes, attribution.NoteInline) }

// gompChecks are the equations between a profile and libgomp's calls.
func gompChecks(p *profile.Profile, c testbin.Counts, names bool) []check {
	loops := func(s string) bool {
		return strings.HasPrefix(s, "GOMP_loop") && strings.HasSuffix(s, "_start")
	}
	// A parallel for that GCC split is one region, and its loop's call one of the
	// region's executions.
	loopCalled := func(r *profile.Region) bool {
		return r.Construct == event.Loop && !inlined(r) || slices.Contains(r.Notes, attribution.NoteSplit)
	}
	called := func(r *profile.Region) bool { return r.Construct == event.Loop && !inlined(r) }
	criticals := func(named bool) func(*profile.Region) bool {
		return func(r *profile.Region) bool {
			return r.Construct == event.Critical && (r.Name != "") == named
		}
	}
	checks := []check{
		{name: "parallel bodies", got: count(p, execC, parallel), want: sum(c, startsEnds("GOMP_parallel", ":body"))},
		{name: "PARALLEL SECTIONS", got: count(p, execC, is(event.ParallelSections)), want: sum(c, named("GOMP_parallel_sections:body"))},
		{name: "LOOP", got: count(p, execC, loopCalled), want: sum(c, loops)},
		{name: "LOOP barriers", got: count(p, barrierC, called), want: sum(c, named("GOMP_loop_end", "GOMP_loop_end_cancel"))},
		{name: "SECTIONS", got: count(p, execC, is(event.Sections)), want: sum(c, startsEnds("GOMP_sections", "_start"))},
		{name: "SECTIONS barriers", got: count(p, barrierC, is(event.Sections)), want: sum(c, named("GOMP_sections_end", "GOMP_sections_end_cancel"))},
		{name: "sections executed", got: count(p, bodyC, is(event.Sections, event.ParallelSections)),
			want: sum(c, startsEnds("GOMP_sections", ":taken")), totals: true},
		{name: "SINGLE", got: count(p, execC, is(event.Single)), want: sum(c, named("GOMP_single_start", "GOMP_single_copy_start"))},
		{name: "single winners", got: count(p, bodyC, is(event.Single)),
			want: sum(c, named("GOMP_single_start:taken", "GOMP_single_copy_start:taken")), totals: true},
		{name: "BARRIER, single's and static loops'", got: plus(count(p, execC, is(event.Barrier)), count(p, barrierC, is(event.Single, event.Scope)), count(p, barrierC, inlined)), want: sum(c, named("GOMP_barrier", "GOMP_barrier_cancel"))},
		{name: "CRITICAL", got: count(p, execC, is(event.Critical)), want: sum(c, named("GOMP_critical_start", "GOMP_critical_name_start"))},
		{name: "ORDERED", got: count(p, execC, is(event.Ordered)), want: sum(c, named("GOMP_ordered_start",
			"GOMP_doacross_wait", "GOMP_doacross_post", "GOMP_doacross_ull_wait", "GOMP_doacross_ull_post")), totals: true},
		{name: "ORDERED bodies", got: count(p, bodyC, is(event.Ordered)), want: sum(c, named("GOMP_ordered_end")), totals: true},
		{name: "ATOMIC, REDUCTION", got: count(p, execC, is(event.Atomic, event.Reduction)), want: sum(c, named("GOMP_atomic_start", "GOMP_workshare_task_reduction_unregister"))},
		{name: "LOCK", got: count(p, execC, is(event.Lock)), want: plus(sum(c, both("omp_set_lock")), sum(c, named("omp_test_lock:taken", "omp_test_lock_:taken")))},
		{name: "NEST LOCK", got: count(p, execC, is(event.NestLock)), want: plus(sum(c, both("omp_set_nest_lock")), sum(c, named("omp_test_nest_lock:taken", "omp_test_nest_lock_:taken")))},
	}
	checks = append(checks, gompNewerChecks(p, c)...)
	if names {
		checks = append(checks,
			check{name: "CRITICAL unnamed", got: count(p, execC, criticals(false)), want: sum(c, named("GOMP_critical_start"))},
			check{name: "CRITICAL named", got: count(p, execC, criticals(true)), want: sum(c, named("GOMP_critical_name_start"))})
	}
	return checks
}

// kmpcChecks are the equations between a profile and what OMPT reports. OMPT
// knows no PARALLEL LOOP: it reports the loop in the region.
func kmpcChecks(p *profile.Profile, c testbin.Counts) []check {
	return append(kmpcNewerChecks(p, c), []check{
		// Thread 0 of each team of a league is reported as if in a region of its own.
		{name: "parallel bodies", got: count(p, execC, parallel), want: minus(sum(c, named("implicit_task")), perThread{0: sum(c, named("league_task")).total()})},
		{name: "LOOP", got: count(p, execC, is(event.Loop, event.ParallelLoop)), want: sum(c, named("loop"))},
		{name: "SECTIONS", got: count(p, execC, is(event.Sections, event.ParallelSections)), want: sum(c, named("sections"))},
		{name: "SINGLE", got: count(p, execC, is(event.Single)), want: sum(c, named("single_executor", "single_other"))},
		{name: "single winners", got: count(p, bodyC, is(event.Single)), want: sum(c, named("single_executor")), totals: true},
		{name: "CRITICAL", got: count(p, execC, is(event.Critical)), want: sum(c, named("critical"))},
		{name: "ORDERED bodies", got: count(p, bodyC, is(event.Ordered)), want: sum(c, named("ordered")), totals: true},
		{name: "ORDERED taken", got: count(p, bodyC, is(event.Ordered)), want: sum(c, named("ordered:taken")), totals: true},
		{name: "ATOMIC", got: count(p, execC, is(event.Atomic)), want: sum(c, named("atomic"))},
		{name: "LOCK", got: count(p, execC, is(event.Lock)), want: sum(c, named("lock", "test_lock:taken"))},
		// No test of a nest lock fails in these programs.
		{name: "NEST LOCK", got: count(p, execC, is(event.NestLock)), want: sum(c, named("nest_lock", "test_nest_lock"))},
		{name: "BARRIER", got: count(p, execC, is(event.Barrier)), want: sum(c, named("barrier_explicit"))},
		{name: "MASTER, MASKED", got: count(p, execC, is(event.Master, event.Masked)), want: sum(c, named("masked"))},
		{name: "FLUSH", got: count(p, execC, is(event.Flush)), want: sum(c, named("flush"))},
	}...)
}

// build is a way to compile the programs.
type build struct {
	compiler string
	flags    string
}

func (b build) String() string { return b.compiler + " " + b.flags }

func (b build) options() testbin.Options {
	return testbin.Options{Compiler: b.compiler, Flags: strings.Fields(b.flags)}
}

func threadsEnv(n int) []string { return []string{"OMP_NUM_THREADS=" + strconv.Itoa(n)} }

// countMatrix covers every compiler, optimisation level, kind of link, with and
// without debug information, stripped, at every team size; not their product.
var countMatrix = []struct {
	build
	threads []int
}{
	{build{"gcc", "-O2 -g"}, []int{1, 2, 4}},
	{build{"gcc", "-O0 -g"}, []int{4}},
	{build{"gcc", "-O3"}, []int{4}},
	{build{"gcc", "-O0 -no-pie"}, []int{2}},
	{build{"gcc", "-O2 -s"}, []int{4}},
	{build{"gcc", "-O3 -g -no-pie -fno-plt"}, []int{2}},
	{build{"gcc", "-O2 -g -static"}, []int{4}},
	{build{"clang-19", "-O2 -g"}, []int{1, 2, 4}},
	{build{"clang-19", "-O0 -g"}, []int{4}},
	{build{"clang-19", "-O3 -s"}, []int{4}},
	{build{"clang-14", "-O2"}, []int{2}},
	{build{"clang-14", "-O3 -g -no-pie"}, []int{4}},
	{build{"clang-14", "-O0 -g"}, []int{2}},
}

// Repetitions and iterations of constructs.c: n is not a multiple of the teams.
const constructReps, constructN = 5, 9

func TestConstructCounts(t *testing.T) {
	atOnce(t)
	for _, m := range countMatrix {
		for _, threads := range m.threads {
			if testing.Short() && len(m.threads) == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s threads=%d", m.build, threads), func(t *testing.T) {
				t.Parallel()
				constructCounts(t, m.build, threads)
			})
		}
	}
}

func constructCounts(t *testing.T, b build, threads int, flags ...string) {
	bin := testbin.Build(t, "constructs.c", b.options())
	args := []string{strconv.Itoa(constructReps), strconv.Itoa(constructN)}
	counted := bin
	if strings.Contains(b.flags, "-static") {
		// Nothing can count in a static program: its dynamic twin is as good.
		twin := b
		twin.flags = strings.ReplaceAll(b.flags, " -static", "")
		counted = testbin.Build(t, "constructs.c", twin.options())
	}
	truth := testbin.RunTruth(t, counted, args, append(threadsEnv(threads), "TRUTH_BODIES=1"))
	s := clean(t, options{env: threadsEnv(threads), flags: flags}, bin, args...)
	complete(t, s.main)
	balanced(t, s.main)
	compare(t, programChecks(s.main, threads))
	if testbin.TruthKind(t, counted) == "ompt" {
		compare(t, kmpcChecks(s.main, truth))
	} else {
		compare(t, gompChecks(s.main, truth, !strings.HasSuffix(b.flags, "-s")))
	}
	if t.Failed() {
		t.Logf("profile:\n%s", dump(s.main))
	}
}

// programChecks are the counts that constructs.c has by construction, for what
// the runtimes' own counts do not tell apart.
func programChecks(p *profile.Profile, threads int) []check {
	each := func(n int) perThread {
		out := perThread{}
		for th := range threads {
			out[th] = uint64(n * constructReps)
		}
		return out
	}
	sections := perThread{0: (3 + 2 + 2) * constructReps}
	return []check{
		// single has an implicit barrier, single nowait none, copyprivate one.
		{name: "SINGLE barriers", got: count(p, barrierC, is(event.Single)), want: each(2)},
		{name: "sections", got: count(p, bodyC, is(event.Sections, event.ParallelSections)), want: sections, totals: true},
		{name: "CRITICAL bodies", got: count(p, bodyC, is(event.Critical)), want: each(3)},
		{name: "NEST LOCK bodies", got: count(p, bodyC, is(event.NestLock)), want: each(3)},
	}
}
