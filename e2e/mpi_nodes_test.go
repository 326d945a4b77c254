package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ompp-attach/internal/testbin"
	jobs "ompp-attach/job"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// needTimeNamespaces skips the test where programs cannot be run in time namespaces.
func needTimeNamespaces(t *testing.T) {
	t.Helper()
	needTool(t)
	if out, err := exec.Command("unshare", "--time", "--uts", "--fork", "--monotonic", "5", "true").CombinedOutput(); err != nil {
		t.Skipf("no time namespaces here: %v: %s", err, out)
	}
}

// inNamespaces measures a program of several ranks. Each rank, with its tool, has a clock and a
// host name of its own: CLOCK_MONOTONIC is ahead by aheadOf(rank).
func inNamespaces(t *testing.T, m testbin.MPI, ranks int, flags []string, program ...string) *session {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	script := filepath.Join(t.TempDir(), "rank.sh")
	const text = `r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
exec unshare --time --uts --fork --monotonic $((r*1000+500)) sh -c "hostname node$r; exec $*"
`
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	argv := append([]string{"sh", script, tool, "run", "-o", dir, "--quiet"}, flags...)
	line := m.Launch(ranks, append(append(argv, "--"), program...)...)
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), m.LaunchEnv(t)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	s := &session{dir: dir, stdout: stdout.String(), stderr: stderr.String()}
	s.load(t)
	return s
}

func aheadOf(rank int) int64 { return int64(rank*1000+500) * 1e9 }

// TestTimeNamespaces: ranks in containers with host names and time namespaces of their own share
// the kernel's clock. So their waits are exact, as in TestMPIWaits.
func TestTimeNamespaces(t *testing.T) {
	atOnce(t)
	needTimeNamespaces(t)
	const ranks, rounds = 3, 5
	m := testbin.OpenMPI
	m.Need(t)
	bin := m.BuildWith(t, "gcc", "mpi_waits.c", testbin.Options{Flags: []string{"-O2", "-g"}})
	s := inNamespaces(t, m, ranks, []string{"--waits"}, bin, fmt.Sprint(rounds), "20")
	ps := s.ranks(t, ranks)
	notes := notesOf(t, s.stdout)
	for i := range notes { // the program sees its namespace's clock
		n := &notes[i]
		n.before, n.after = n.before-aheadOf(n.rank), n.after-aheadOf(n.rank)
	}
	recorded(t, notes, ps)
	j := readJob(t, ps)
	if j.Waits.Clocks != nil {
		t.Errorf("clocks were compared: %+v", j.Waits.Machines)
	}
	sameWaits(t, waitTruth(notes), foundWaits(j, ps))
}

// TestAttachInTimeNamespace: a tool in a time namespace measures a program outside of it.
func TestAttachInTimeNamespace(t *testing.T) {
	atOnce(t)
	needTimeNamespaces(t)
	tg := launch(t, testbin.Build(t, "longrun.c", testbin.Options{}), aLongTime)
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("unshare", "--time", "--fork", "--monotonic", "500", tool, "attach", "-o", dir, "--pid", strconv.Itoa(tg.pid()))
	var said output
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	until(t, "the tool attaches", func() bool { return strings.Contains(said.String(), "attached to") })
	untilPassed(t, tg.pid(), manyRegions)
	_ = syscall.Kill(childOf(t, cmd.Process.Pid, tool), syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	p := decode(t, filepath.Join(dir, "profile.json.gz"))
	windowOf(t, p)
	tg.enough(t)
}

// node is a machine to which ranks are said to have run on.
type node struct {
	ranks  []int
	offset int64   // of its clock, ns
	drift  float64 // by how much its clock is faster
	base   uint64
}

func (n *node) clock(t uint64) uint64 {
	return uint64(int64(t) + n.offset + int64(n.drift*float64(int64(t-n.base))))
}

// moved returns profiles as if some ranks had run on another machine, whose clock differs.
func moved(t *testing.T, ps []*profile.Profile, n *node, synchronised bool) (out []*profile.Profile) {
	t.Helper()
	for rank, p := range ps {
		q := *p
		c := *p.Meta.Clock
		away := slices.Contains(n.ranks, rank)
		if away {
			c.Boot, q.Meta.Host, q.Calls = "another boot", "elsewhere", movedLog(t, p.Calls, n)
		}
		for _, r := range []*clocks.Reading{&c.Begin, &c.End} {
			if away { // the time of day has the same drift, and is wrong by 1 ms more
				r.Monotonic = int64(n.clock(uint64(r.Monotonic)))
				r.Real = r.Monotonic + ps[0].Meta.Clock.Begin.Real + 1e6 - int64(n.clock(n.base))
			}
			r.Synchronised, r.MaxError = synchronised, 3e6
		}
		q.Meta.Clock = &c
		out = append(out, &q)
	}
	return out
}

func movedLog(t *testing.T, l *calllog.Log, n *node) *calllog.Log {
	t.Helper()
	r := calllog.NewRecorder()
	for i := range l.Threads {
		rd := l.Reader(i)
		for c, ok := rd.Next(); ok; c, ok = rd.Next() {
			c.Start, c.End = n.clock(c.Start), n.clock(c.End)
			r.Add(uint32(i), l.Sites[c.Site], c)
		}
		if rd.Err() != nil {
			t.Fatal(rd.Err())
		}
	}
	out := r.Log
	out.Cancels = l.Cancels
	return &out
}

// TestMPINodes: the logs of a real run, shifted as if some ranks had run on a machine with another
// clock. The difference of the clocks is found within its bound. Waits are those of the run as it
// was, within their bounds, and a latecomer is the right one or is not named.
func TestMPINodes(t *testing.T) {
	atOnce(t)
	const ranks, rounds = 3, 5
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			m.Need(t)
			bin := m.BuildWith(t, "gcc", "mpi_waits.c", testbin.Options{Flags: []string{"-O2", "-g"}})
			line := m.Launch(ranks, bin, fmt.Sprint(rounds), "20")
			s := run(t, options{env: m.LaunchEnv(t), flags: []string{"--waits"}}, line[0], line[1:]...)
			if s.exit != 0 {
				t.Fatalf("exit status %d: %s", s.exit, s.stderr)
			}
			ps := s.ranks(t, ranks)
			exact := readJob(t, ps)
			rnd := rand.New(rand.NewPCG(1, 2))
			for i := range 12 {
				n := &node{ranks: [][]int{{2}, {1, 2}, {0}, {0, 2}}[i%4], offset: rnd.Int64N(4e12) - 2e12, drift: (2*rnd.Float64() - 1) * 80e-6,
					base: uint64(ps[0].Meta.Clock.Begin.Monotonic)}
				t.Run(fmt.Sprint(n.ranks, n.offset, n.drift), func(t *testing.T) {
					away := moved(t, ps, n, i%3 == 0)
					j := readJob(t, away)
					checkClocks(t, j, n, ps)
					checkMoved(t, exact, j, ps, away)
				})
			}
		})
	}
}

// checkClocks: the clocks' difference is known within its bound, at any time.
func checkClocks(t *testing.T, j *jobs.Job, n *node, ps []*profile.Profile) {
	t.Helper()
	w := j.Waits
	if len(w.Machines) != 2 || len(w.Clocks.Links) != 1 || !w.Clocks.Links[0].Messages {
		t.Fatalf("%+v, %+v", w.Machines, w.Clocks)
	}
	from, to := ps[0].Meta.Clock.Begin.Monotonic, ps[0].Meta.Clock.End.Monotonic
	home, away := 0, 1
	if slices.Contains(n.ranks, w.Machines[0].Ranks[0]) {
		home, away = 1, 0
	}
	for i := range int64(100) {
		at := uint64(from + (to-from)*i/100)
		want := w.Machines[home].Clock.Shifted(at)
		got, bound := w.Clocks.Convert(home, away, w.Machines[away].Clock.Shifted(n.clock(at)))
		if d := int64(got - want); d > bound || d < -bound || bound < 1 {
			t.Fatalf("off by %d, bound %d: %+v", d, bound, w.Clocks.Links[0])
		}
	}
}

// completions are no waits for a rank.
var completions = []match.Property{match.LateSenderDone, match.LateReceiverDone, match.BarrierCompletion, match.NxNCompletion, match.InitCompletion}

// checkMoved compares waits with those of the run as it was. Sites are numbered anew in away, where
// two sites of one line are one.
func checkMoved(t *testing.T, exact, j *jobs.Job, ps, away []*profile.Profile) {
	t.Helper()
	if j.Waits.Sends != exact.Waits.Sends || j.Waits.Receives != exact.Waits.Receives || j.Waits.Collectives != exact.Waits.Collectives {
		t.Errorf("%+v, not %+v", j.Waits.Result, exact.Waits.Result)
	}
	type sum struct {
		profile.Sum
		bound int64
	}
	sums := func(j *jobs.Job, ps []*profile.Profile) (byPlace map[waitAt]sum, whole map[waitAt]profile.Sum) {
		byPlace = map[waitAt]sum{}
		for _, w := range j.Waits.Waits {
			if slices.Contains(completions, w.Property) {
				continue
			}
			at := waitAt{property: w.Property, rank: w.At.Rank, line: lineOfCall(ps[w.At.Rank], w.At.Site)}
			s := byPlace[at]
			s.Add(profile.Sum{T: w.T, C: w.Count})
			s.bound += w.Bound
			byPlace[at] = s
		}
		return byPlace, foundWaits(j, ps)
	}
	want, wantDue := sums(exact, ps)
	got, gotDue := sums(j, away)
	var across, missing int64
	for at, g := range got {
		w := want[at]
		slack := int64(float64(g.T) * 100e-6) // of the other clock's rate
		if g.C > w.C || g.T > w.T+g.bound+slack+int64(g.C) || g.C == w.C && g.T < w.T-g.bound-slack-int64(g.C) {
			t.Errorf("%+v: %+v, not %+v", at, g, w)
		}
		if g.bound > 0 {
			across += g.T
		}
	}
	for at, w := range want {
		if at.property == match.LockContention { // not told of windows between nodes
			if got[at].C > 0 || j.Waits.Locks.Matched > 0 {
				t.Errorf("%+v: %+v, locks %+v", at, got[at], j.Waits.Locks)
			}
			continue
		}
		if _, part := at.property.Part(); !part {
			missing += int64(w.C - got[at].C)
		}
	}
	if a := j.Waits.Across; missing > int64(a.Untold) || across == 0 || a.Waits == 0 {
		t.Errorf("%d waits are missing: %+v", missing, a)
	}
	for at, g := range gotDue {
		if own := at.due == at.rank && at.dueL == at.line; !own && wantDue[at].C < g.C {
			t.Errorf("%+v: %+v, but it was %+v", at, g, wantDue[at])
		}
	}
}
