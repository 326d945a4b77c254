package measure

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/system"
)

// hybridThreads are the threads of each of two processes: those for which there are CPUs, unless
// the user has said which.
func (m *measurement) hybridThreads() []int {
	if m.askedThreads {
		return m.o.Threads
	}
	return slices.DeleteFunc(slices.Clone(m.o.Threads), func(n int) bool { return n == 1 || m.oversubscribed(2*n) })
}

func (m *measurement) hybridSizes() []string {
	if m.o.Quick {
		return []string{"8", "65536"}
	}
	return []string{"8", "512", "8192", "65536", "1048576"}
}

// hybrid measures messages between processes with several threads.
func (m *measurement) hybrid(ctx context.Context) error {
	threads := m.hybridThreads()
	if len(threads) == 0 {
		return fmt.Errorf("two processes of two threads need 4 CPUs, and there are %d: --threads 2 measures nevertheless, with more threads than CPUs", m.cpus())
	}
	if err := compile(ctx, m.o.MPICC, m.o.CFlags, m.dir, "hybrid.c", "hybrid"); err != nil {
		return err
	}
	for _, n := range threads {
		c, err := m.launch(ctx, 2, "hybrid", m.rule(strings.Join(m.hybridSizes(), ",")))
		if err != nil {
			return err
		}
		// The ranks of other nodes get it by the launcher, or not: the program says what it had.
		c.Env = append(c.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(n))
		if err := run(ctx, c, m.addHybrid); err != nil {
			return err
		}
	}
	if level := m.p.Software.MPIThreads; level != "MPI_THREAD_MULTIPLE" && level != "" {
		m.leaveOut("hybrid", fmt.Sprintf("several threads cannot communicate at once: the library gives %s", level))
	}
	return nil
}

// addHybrid adds THREADS COMMUNICATING BYTES NODES WHERE OVERSUBSCRIBED SAMPLES.
func (m *measurement) addHybrid(words []string) error {
	if words[0] == "fact" {
		m.fact(words)
		return nil
	}
	const samples = 7
	if len(words) < samples+3 || words[0] != "hybrid" {
		return fmt.Errorf("the program for hybrid communication wrote %.40q", words)
	}
	v, err := numbers(slices.Concat(words[1:5], words[6:]))
	if err != nil {
		return err
	}
	m.p.Hybrid = append(m.p.Hybrid, system.Hybrid{
		Threads: int(v[0]), Communicating: int(v[1]), Bytes: uint64(v[2]), Nodes: int(v[3]), Where: system.Where(words[5]),
		Oversubscribed: v[4] != 0, Cost: m.figure(v[5:]),
	})
	m.step("hybrid, 2 processes of " + amount(int(v[0]), "thread", "threads"))
	return nil
}
