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

// commandCost is how long a whole command takes, by itself and with `ompp-attach
// run` before it, in s: loading, probing, and writing the profile are in it.
type commandCost struct {
	title   string
	seconds *turns
}

// measureCommands measures the programs of the demos from their start to their
// end.
func measureCommands(targets []target, dir string) ([]*commandCost, error) {
	var out []*commandCost
	measure := func(title string, env []string, argv ...string) error {
		if !wanted("command: " + title) {
			return nil
		}
		fmt.Fprintln(os.Stderr, "command: "+title)
		under := append([]string{*tool, "run", "--quiet", "--overwrite", "-o", filepath.Join(dir, "run"), "--"}, argv...)
		timed := func(argv []string) func() (float64, error) {
			return func() (float64, error) {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Env = append(os.Environ(), env...)
				begin := time.Now()
				if msg, err := cmd.CombinedOutput(); err != nil {
					return 0, fmt.Errorf("%s: %w\n%s", cmd, err, msg)
				}
				return time.Since(begin).Seconds(), nil
			}
		}
		runs := [numWays]func() (float64, error){bare: timed(argv), ours: timed(under)}
		by := [numWays]*means{bare: {run: runs[bare]}, ours: {run: runs[ours]}}
		if _, err := runs[bare](); err != nil { // for the caches
			return err
		}
		seconds, err := takeTurns(by, 1, func(m *means, _ int) (float64, error) { return m.run() })
		if err != nil {
			return err
		}
		out = append(out, &commandCost{title, seconds})
		return nil
	}
	for _, t := range targets {
		t.binary = filepath.Join(dir, "plate-"+t.runtime)
		if err := compile(t.compiler, t.binary, "testdata/programs/demo/plate.c", t.flags...); err != nil {
			return nil, err
		}
		if err := measure("plate, "+t.runtime, nil, t.binary, "160", "60"); err != nil {
			return nil, err
		}
	}
	mpi, err := mpiCompilers(dir)
	if err != nil {
		return nil, err
	}
	for _, t := range mpi {
		t.binary = filepath.Join(dir, "strips-"+t.compiler)
		if err := compile(t.compiler, t.binary, "testdata/programs/demo/strips.c", "-fopenmp"); err != nil {
			return nil, err
		}
		launcher := strings.Replace(t.compiler, "mpicc", "mpirun", 1)
		if err := measure("strips, "+t.runtime, t.mpirun().Env, launcher, "-n", strconv.Itoa(ranks), t.binary, "240", "200"); err != nil {
			return nil, err
		}
	}
	return out, nil
}
