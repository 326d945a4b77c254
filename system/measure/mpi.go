package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/mpi"
	"ompp-attach/system"
)

const (
	longestMessage    = 4 << 20 // bytes
	longestCollective = 1 << 20
	patterns          = 3 // of messages between two ranks
	collectives       = 9
)

// sizes are the lengths of messages: by doubling, or each eight times the one before if it has to
// be quick.
func (m *measurement) sizes(longest int) (out []string) {
	factor := 2
	if m.o.Quick {
		factor = 8
	}
	for b := 1; b <= longest; b *= factor {
		out = append(out, strconv.Itoa(b))
	}
	return out
}

// pair is two CPUs.
type pair struct{ a, b int }

func (m *measurement) mpiFigures() int {
	if len(m.o.Processes) == 0 {
		return 0
	}
	return len(m.pairs())*patterns*len(m.sizes(longestMessage)) + len(m.o.Processes)*collectives*len(m.sizes(longestCollective))
}

// messages measures messages between two ranks at each distance, and collective operations.
func (m *measurement) messages(ctx context.Context) error {
	if len(m.o.Processes) == 0 {
		return fmt.Errorf("there is one CPU only: --processes 2 measures nevertheless, with more processes than CPUs")
	}
	if err := compile(ctx, m.o.MPICC, m.o.CFlags, m.dir, "mpi.c", "mpi"); err != nil {
		return err
	}
	lengths := strings.Join(m.sizes(longestMessage), ",")
	for _, p := range m.pairs() {
		if err := m.runMPI(ctx, 2, "mpi", m.rule("pair", strconv.Itoa(p.a), strconv.Itoa(p.b), lengths)); err != nil {
			return err
		}
	}
	lengths = strings.Join(m.sizes(longestCollective), ",")
	for _, n := range m.o.Processes {
		if err := m.runMPI(ctx, n, "mpi", m.rule("all", lengths)); err != nil {
			return fmt.Errorf("on %s: %w", amount(n, "process", "processes"), err)
		}
	}
	return nil
}

// launch is the command that runs a program on n ranks.
func (m *measurement) launch(ctx context.Context, n int, program string, args []string) (*exec.Cmd, error) {
	line := m.o.MPIRun
	if !strings.Contains(line, "{p}") {
		line += " -n {p}"
	}
	line = strings.ReplaceAll(line, "{p}", strconv.Itoa(n))
	return command(ctx, line, append([]string{filepath.Join(m.dir, program)}, args...)...)
}

func (m *measurement) runMPI(ctx context.Context, n int, program string, args []string) error {
	c, err := m.launch(ctx, n, program, args)
	if err != nil {
		return err
	}
	err = run(ctx, c, func(words []string) error {
		switch words[0] {
		case "fact":
			m.fact(words)
			return nil
		case "eager":
			return m.addEager(words[1:])
		case "mpi":
			return m.addMessage(words[1:])
		}
		return fmt.Errorf("the program for MPI wrote %.40q", words)
	})
	if err != nil && os.Geteuid() == 0 && strings.Contains(err.Error(), "as root") {
		err = fmt.Errorf("%w (Open MPI: measure as another user, or set OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM to 1)", err)
	}
	return err
}

func (m *measurement) addEager(words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("the program for MPI wrote %d words about eager messages", len(words))
	}
	v, err := numbers(words[1:])
	if err != nil {
		return err
	}
	e := system.Eager{Where: system.Where(words[0]), Bytes: uint64(v[0]), Waits: uint64(v[1])}
	if !slices.ContainsFunc(m.p.Eager, func(o system.Eager) bool { return o.Where == e.Where }) {
		m.p.Eager = append(m.p.Eager, e)
	}
	return nil
}

// addMessage adds OPERATION BYTES PROCESSES NODES WHERE OVERSUBSCRIBED SAMPLES.
func (m *measurement) addMessage(words []string) error {
	const samples = 6
	if len(words) < samples+3 {
		return fmt.Errorf("the program for MPI wrote %d words about an operation", len(words))
	}
	op, ok := mpi.ParseOp(words[0])
	if !ok {
		return fmt.Errorf("the program for MPI measured %.40q", words[0])
	}
	v, err := numbers(slices.Concat(words[1:4], words[5:]))
	if err != nil {
		return err
	}
	c := system.MPI{
		Operation: op, Bytes: uint64(v[0]), Processes: int(v[1]), Nodes: int(v[2]), Where: system.Where(words[4]),
		Oversubscribed: v[3] != 0, Cost: m.figure(v[4:]),
	}
	m.step("MPI, " + amount(c.Processes, "process", "processes"))
	if !slices.ContainsFunc(m.p.MPI, func(o system.MPI) bool { // two pairs may be at one distance
		return o.Operation == c.Operation && o.Bytes == c.Bytes && o.Processes == c.Processes && o.Where == c.Where
	}) {
		m.p.MPI = append(m.p.MPI, c)
	}
	return nil
}
