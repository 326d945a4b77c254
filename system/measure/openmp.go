package measure

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"ompp-attach/event"
	"ompp-attach/system"
)

// openmpTest is a test of programs/openmp.c; the order is the program's.
type openmpTest struct {
	construct event.Construct
	variant   string
	shared    bool
}

// Of each construct the usual variant comes first.
var openmpTests = []openmpTest{
	{construct: event.Parallel},
	{construct: event.Parallel, variant: "private 8 KiB"},
	{construct: event.Parallel, variant: "firstprivate 8 KiB"},
	{construct: event.Parallel, variant: "copyin 8 KiB"},
	{construct: event.ParallelLoop, variant: "static"},
	{construct: event.Loop, variant: "static"},
	{construct: event.Loop, variant: "static,1"},
	{construct: event.Loop, variant: "dynamic,1"},
	{construct: event.Loop, variant: "guided"},
	{construct: event.Loop, variant: "a chunk of static,1"},
	{construct: event.Loop, variant: "a chunk of dynamic,1"},
	{construct: event.Sections},
	{construct: event.Single},
	{construct: event.Single, variant: "copyprivate 8 KiB"},
	{construct: event.Master},
	{construct: event.Critical, variant: "contended", shared: true},
	{construct: event.Critical, variant: "free"},
	{construct: event.Ordered, variant: "contended", shared: true},
	{construct: event.Lock, variant: "contended", shared: true},
	{construct: event.Lock, variant: "free"},
	{construct: event.NestLock, variant: "contended", shared: true},
	{construct: event.Barrier},
	{construct: event.Atomic, variant: "contended", shared: true},
	{construct: event.Atomic, variant: "free"},
	{construct: event.Flush},
	{construct: event.Reduction},
	{construct: event.Task, variant: "created by all"},
	{construct: event.Task, variant: "created by one", shared: true},
	{construct: event.TaskLoop},
	{construct: event.TaskWait, variant: "no task"},
	{construct: event.TaskWait, variant: "with a task"},
	{construct: event.TaskGroup},
}

// openmp measures the constructs with teams of each size.
func (m *measurement) openmp(ctx context.Context) error {
	if err := m.compile(ctx, "openmp.c", "openmp"); err != nil {
		return err
	}
	for _, n := range m.o.Threads {
		c, err := m.withThreads(ctx, n, "openmp", m.rule()...)
		if err != nil {
			return err
		}
		team := n
		err = run(ctx, c, func(words []string) error {
			if len(words) < 7 || words[0] != "openmp" {
				return fmt.Errorf("the program for OpenMP wrote %.40q", words)
			}
			v, err := numbers(words[1:])
			if err != nil {
				return err
			}
			test := int(v[0])
			if test < 0 || test >= len(openmpTests) {
				return fmt.Errorf("the program for OpenMP has a test %d", test)
			}
			if team = int(v[1]); team == n {
				t := openmpTests[test]
				m.p.OpenMP = append(m.p.OpenMP, system.OpenMP{
					Construct: t.construct, Variant: t.variant, Threads: n, Shared: t.shared,
					Cost: m.figure(v[3:]), Reference: v[2], Oversubscribed: m.oversubscribed(n),
				})
			}
			m.step("OpenMP, " + amount(n, "thread", "threads"))
			return nil
		})
		if err != nil {
			return err
		}
		if team != n {
			m.leaveOut("openmp", fmt.Sprintf("the runtime made teams of %d where %d threads were asked for", team, n))
		}
	}
	return nil
}

// withThreads is the command that runs a program with teams of n threads.
func (m *measurement) withThreads(ctx context.Context, n int, program string, args ...string) (*exec.Cmd, error) {
	c, err := command(ctx, filepath.Join(m.dir, program), args...)
	if err == nil {
		c.Env = append(c.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(n))
	}
	return c, err
}
