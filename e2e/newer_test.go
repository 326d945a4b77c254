package e2e

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// gompNewerChecks are the equations for constructs that came with OpenMP 4.0
// and later.
func gompNewerChecks(p *profile.Profile, c testbin.Counts) []check {
	return []check{
		{name: "TEAMS", got: count(p, execC, is(event.Teams)), want: plus(sum(c, named("GOMP_teams_reg")), minus(sum(c, named("GOMP_teams4")), sum(c, named("GOMP_teams4:taken"))))},
		{name: "SCOPE", got: count(p, execC, is(event.Scope)), want: sum(c, named("GOMP_scope_start"))},
		{name: "CANCEL", got: count(p, execC, is(event.Cancel)), want: sum(c, named("GOMP_cancel")), totals: true},
		{name: "CANCEL activated", got: count(p, bodyC, is(event.Cancel)), want: sum(c, named("GOMP_cancel:taken")), totals: true},
		{name: "TARGET", got: count(p, execC, is(event.Target)), want: sum(c, named("GOMP_target_ext"))},
		{name: "TARGET DATA", got: count(p, execC, is(event.TargetData)), want: sum(c, named("GOMP_target_data_ext"))},
		{name: "TARGET DATA ends", got: count(p, bodyC, is(event.TargetData)), want: sum(c, named("GOMP_target_end_data"))},
		{name: "TARGET UPDATE", got: count(p, execC, is(event.TargetUpdate)), want: sum(c, named("GOMP_target_update_ext"))},
		{name: "TARGET ENTER, EXIT DATA", got: count(p, execC, is(event.TargetEnterData, event.TargetExitData)), want: sum(c, named("GOMP_target_enter_exit_data"))},
	}
}

// minus is for calls that return nothing: all less those that do.
func minus(p, q perThread) perThread {
	out := perThread{}
	for th, n := range p {
		if d := n - q[th]; d > 0 {
			out[th] = d
		}
	}
	return out
}

// kmpcNewerChecks are those of libomp. OMPT reports no cancellation point that
// finds nothing cancelled, and numbers the teams of a league as the runtime does.
func kmpcNewerChecks(p *profile.Profile, c testbin.Counts) []check {
	return []check{
		{name: "TEAMS", got: count(p, execC, is(event.Teams)), want: sum(c, named("league_task")), totals: true},
		{name: "DISTRIBUTE", got: count(p, execC, is(event.Distribute)), want: sum(c, named("distribute")), totals: true},
		{name: "SCOPE", got: count(p, execC, is(event.Scope)), want: sum(c, named("scope"))},
		{name: "CANCEL activated", got: count(p, bodyC, is(event.Cancel)), want: sum(c, named("cancel:activated")), totals: true},
	}
}

// newerEnv lets regions be cancelled, and leagues have as many teams as asked
// for on a machine with fewer processors.
func newerEnv(threads int) []string {
	return append(threadsEnv(threads), "OMP_CANCELLATION=true", "KMP_TEAMS_THREAD_LIMIT=16")
}

// TestNewerConstructs compares teams, cancellation, doacross loops, target and
// the rest with the runtimes' own counts and with what the program does by
// construction.
func TestNewerConstructs(t *testing.T) {
	atOnce(t)
	const reps, n = 4, 9
	for _, b := range []build{{"gcc", "-O2 -g"}, {"gcc", "-O0 -g"}, {"gcc", "-O3 -s"},
		{"clang-19", "-O2 -g"}, {"clang-19", "-O0 -g"}, {"clang-14", "-O3 -g"}} {
		for _, threads := range []int{2, 4} {
			if testing.Short() && threads > 2 {
				continue
			}
			t.Run(fmt.Sprintf("%s threads=%d", b, threads), func(t *testing.T) {
				t.Parallel()
				bin := testbin.Build(t, "newer.c", b.options())
				args := []string{strconv.Itoa(reps), strconv.Itoa(n)}
				truth := testbin.RunTruth(t, bin, args, append(newerEnv(threads), "TRUTH_BODIES=1"))
				s := clean(t, options{env: newerEnv(threads)}, bin, args...)
				complete(t, s.main)
				balanced(t, s.main)
				checks := newerByConstruction(s.main, b, threads, reps, n, strings.Contains(s.stdout, "fork_call_if"))
				if testbin.TruthKind(t, bin) == "ompt" {
					// In a team of one OMPT reports no posts.
					checks = append(checks, check{name: "ORDERED posts", got: minus(count(s.main, execC, is(event.Ordered)), count(s.main, enterC, is(event.Ordered))),
						want: sum(truth, named("doacross_source")), totals: true})
					// libomp makes two barriers of one that is cancelled.
					checks = append(checks, slices.DeleteFunc(kmpcChecks(s.main, truth), func(c check) bool { return c.name == "BARRIER" })...)
				} else {
					checks = append(checks, gompChecks(s.main, truth, false)...)
				}
				compare(t, checks)
				if t.Failed() {
					t.Logf("profile:\n%s", dump(s.main))
				}
			})
		}
	}
}

// newerByConstruction are the counts that newer.c has.
func newerByConstruction(p *profile.Profile, b build, threads, reps, n int, byHand bool) []check {
	clang := strings.HasPrefix(b.compiler, "clang")
	r := uint64(reps)
	total := func(name string, what pick, c event.Construct, want int) check {
		return check{name: "by construction: " + name, got: count(p, what, is(c)), want: perThread{0: uint64(want) * r}, totals: true}
	}
	// GCC's waits for iteration -1 are left out by the compiler, clang's by the runtime.
	sinks := n - 1
	if clang {
		sinks = n
	}
	checks := []check{
		total("CANCEL", execC, event.Cancel, 2),
		total("CANCEL activated", bodyC, event.Cancel, 2),
		total("ORDERED", execC, event.Ordered, sinks+n),
		total("ORDERED bodies", bodyC, event.Ordered, 0),
		total("ORDERED waits", enterC, event.Ordered, sinks),
	}
	if !clang {
		return append(checks,
			// Two teams constructs of three and two teams, and one of two in a target region.
			total("TEAMS", execC, event.Teams, 4), total("teams", bodyC, event.Teams, 3+2+2+2),
			total("SCOPE", execC, event.Scope, threads), total("TARGET", execC, event.Target, 2),
			total("TARGET ENTER DATA", execC, event.TargetEnterData, 1), total("TARGET EXIT DATA", execC, event.TargetExitData, 1))
	}
	checks = append(checks,
		// Without offloading clang's target is a plain call; its teams are not.
		total("TEAMS", execC, event.Teams, 3+2+2+2), total("teams", bodyC, event.Teams, 3+2+2+2),
		total("BARRIER", execC, event.Barrier, 2*threads),
		total("DISTRIBUTE", execC, event.Distribute, 3+2), total("REDUCTION", execC, event.Reduction, threads),
		check{name: "by construction: MASKED", got: count(p, execC, is(event.Masked)), want: perThread{threads - 1: r}})
	if byHand {
		checks = append(checks, total("SCOPE", execC, event.Scope, threads+2))
	}
	return checks
}

// TestOffloading measures clang's target regions from the host's side. Its
// device is the host, so that the kernels' teams are seen as well.
func TestOffloading(t *testing.T) {
	atOnce(t)
	const compiler, reps = "clang-19", 3
	testbin.NeedOffload(t, compiler)
	bin := testbin.Build(t, "offload.c", testbin.Options{Compiler: compiler,
		Flags: []string{"-O2", "-g", "-fopenmp-targets=" + targetTriple[runtime.GOARCH]}})
	// The device's code loads libomp from its own folder: there must be no other.
	s := clean(t, options{env: append(newerEnv(2), "LD_LIBRARY_PATH=")}, bin, strconv.Itoa(reps))
	complete(t, s.main)
	balanced(t, s.main)
	var checks []check
	for c, n := range map[event.Construct]uint64{
		event.Target: 2, event.TargetUpdate: 1, event.Teams: 2, event.ParallelLoop: 2 * 2,
		// target data is one of each.
		event.TargetEnterData: 2, event.TargetExitData: 2,
	} {
		checks = append(checks, check{name: c.String(), got: count(s.main, execC, is(c)), want: perThread{0: n * reps}, totals: true})
	}
	compare(t, checks)
	// The kernel's teams lie in their target region.
	for i := range s.main.Nodes {
		if n := &s.main.Nodes[i]; n.Region >= 0 && s.main.Regions[n.Region].Construct == event.Teams &&
			!strings.Contains(path(s.main, i), event.Target.String()+" ") {
			t.Errorf("teams outside their target region: %s", path(s.main, i))
		}
	}
	if t.Failed() {
		t.Logf("profile:\n%s", dump(s.main))
	}
}

// targetTriple is what clang calls the host as a device.
var targetTriple = map[string]string{"amd64": "x86_64-pc-linux-gnu", "arm64": "aarch64-unknown-linux-gnu"}
