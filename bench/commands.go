package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// command is a program that is run from its start to its end.
type command struct {
	title  string
	of     target
	source string
	args   []string
	mpi    bool
}

// commands are the programs of the demos, shortened.
func commands(targets, mpi []target) (out []command) {
	for _, t := range targets {
		out = append(out, command{title: "plate, " + t.runtime, of: t, source: "plate.c", args: []string{"160", "60"}})
	}
	for _, t := range mpi {
		t.flags = append(t.flags, "-fopenmp")
		out = append(out, command{title: "strips, " + t.runtime, of: t, source: "strips.c", args: []string{"240", "200"}, mpi: true})
	}
	return out
}

// commandCost is how long a whole command takes, by itself and with `ompp-attach
// run` before it, in s: loading, probing, and writing the profile are in it.
type commandCost struct {
	title   string
	seconds *turns
}

func (r *results) measureCommand(c command, dir string) error {
	fmt.Fprintln(os.Stderr, "command: "+c.title)
	t := c.of
	t.binary = filepath.Join(dir, "demo-"+filepath.Base(t.compiler))
	if err := compile(t.compiler, t.binary, "testdata/programs/demo/"+c.source, t.flags...); err != nil {
		return err
	}
	argv, env := append([]string{t.binary}, c.args...), os.Environ()
	if c.mpi {
		launcher := strings.Replace(t.compiler, "mpicc", "mpirun", 1)
		argv, env = append([]string{launcher, "-n", strconv.Itoa(ranks)}, argv...), t.mpirun().Env
	}
	timed := func(argv ...string) *means {
		return &means{run: func() (float64, error) {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env = env
			begin := time.Now()
			if msg, err := cmd.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%s: %w\n%s", cmd, err, msg)
			}
			return time.Since(begin).Seconds(), nil
		}}
	}
	under := append([]string{*tool, "run", "--quiet", "--mpi-all", "--overwrite", "-o", filepath.Join(dir, "run"), "--"}, argv...)
	by := [numWays]*means{bare: timed(argv...), ours: timed(under...)}
	if _, err := by[bare].run(); err != nil { // for the caches
		return err
	}
	seconds, err := takeTurns(by, *rounds, 1, func(m *means, _ int) (float64, error) { return m.run() })
	if err == nil {
		r.commands = append(r.commands, &commandCost{c.title, seconds})
	}
	return err
}
