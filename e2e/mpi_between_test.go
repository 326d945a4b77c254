package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// runBetween measures a program on two nodes: rank 0 on the first, the others on the second one.
func runBetween(t *testing.T, m testbin.MPI, ranks int, flags []string, program ...string) (*session, [2]*namespaceNode) {
	t.Helper()
	nodes, agent := startNodes(t)
	dir := filepath.Join(t.TempDir(), "out")
	argv := append([]string{tool, "run", "-o", dir, "--quiet"}, flags...)
	hosts := []string{nodes[0].name + ":1", fmt.Sprintf("%s:%d", nodes[1].name, ranks-1)}
	line := nodes[0].line(m.LaunchOn(agent, hosts, ranks, append(append(argv, "--"), program...)...)...)
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), m.LaunchOnEnv(t)...)
	cmd.WaitDelay = 5 * time.Second // ranks that outlive a killed launcher keep its output open
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stderr.String(), stdout.String())
	}
	awaitTools(dir)
	s := &session{dir: dir, stdout: stdout.String(), stderr: stderr.String()}
	s.load(t)
	return s, nodes
}

// TestBetweenNodes: a job over two nodes, which its launcher reaches by an agent as it would by
// ssh. Each node has its collector. The recorded times are the kernel's, whatever the nodes' clocks
// say. As the kernel is one, the truth is known: it is the same profiles' waits by one clock.
// Between the nodes the clocks are compared by messages that really took that long. Then one node's
// times are moved, as if its kernel's clock were another one.
func TestBetweenNodes(t *testing.T) {
	atOnce(t)
	const ranks, rounds = 3, 5
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			m.Need(t)
			bin := m.BuildWith(t, "gcc", "mpi_waits.c", testbin.Options{Flags: []string{"-O2", "-g"}})
			s, nodes := runBetween(t, m, ranks, []string{"--waits"}, bin, fmt.Sprint(rounds), "20")
			ps := s.ranks(t, ranks)
			notes := notesOf(t, s.stdout)
			for i := range notes { // the program sees its node's clock
				n := &notes[i]
				ahead := nodes[min(n.rank, 1)].ahead
				n.before, n.after = n.before-ahead, n.after-ahead
			}
			recorded(t, notes, ps)
			for rank, p := range ps {
				if want := nodes[min(rank, 1)].name; p.Meta.Host != want {
					t.Errorf("rank %d was measured on %s, not %s", rank, p.Meta.Host, want)
				}
			}
			one := byOneClock(ps)
			exact := readJob(t, one)
			// Between nodes, both libraries take a lock later than in MPI_Win_lock.
			sameWaits(t, waitTruth(notes), foundWaits(exact, one), match.LockContention)
			base := uint64(ps[0].Meta.Clock.Begin.Monotonic)
			for _, n := range []*node{{base: base}, {offset: -3e12, drift: 60e-6, base: base}, {offset: 1e9, drift: -80e-6, base: base}} {
				n.ranks = []int{1, 2}
				t.Run(fmt.Sprint(n.offset, n.drift), func(t *testing.T) {
					away := ps
					if n.offset != 0 {
						away = moved(t, ps, n, false)
					}
					j := readJob(t, away)
					checkClocks(t, j, n, ps)
					if r := j.Waits.Machines; !slices.Equal(r[0].Ranks, []int{0}) || !slices.Equal(r[1].Ranks, []int{1, 2}) {
						t.Errorf("ranks by machine: %+v", r)
					}
					checkMoved(t, exact, j, one, away)
				})
			}
			out, err := exec.Command(tool, "report", "--properties", s.dir).CombinedOutput()
			if text := strings.Join(strings.Fields(string(out)), " "); err != nil || !strings.Contains(text, "The ranks ran on 2 machines: nodea has rank 0, nodeb has ranks 1-2 (2).") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// byOneClock returns the profiles as if their nodes were one machine, as they are.
func byOneClock(ps []*profile.Profile) (out []*profile.Profile) {
	for _, p := range ps {
		q, c := *p, *p.Meta.Clock
		c.Boot = "one boot"
		q.Meta.Clock = &c
		out = append(out, &q)
	}
	return out
}
