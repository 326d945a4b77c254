// Command bench measures what profiling costs the target, how fast events are
// taken, and how long attaching lasts, and writes it down (make bench). The
// configurations of one operation take turns on one running process, so that
// what else the machine does falls on all of them alike.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// rounds is how often each configuration gets its turn, millis how long one
// turn lasts.
var (
	rounds = flag.Int("rounds", 7, "turns of each configuration; medians are taken over them")
	millis = flag.Int("ms", 150, "length of a turn in milliseconds")
	tool   = flag.String("tool", "bin/ompp-attach", "the built ompp-attach")
	only   = flag.String("only", "", "regular expression: measure no other operations (\"MPICH: MPI_Send\")")
	output = flag.String("o", "docs/benchmarks.md", "file to write, - for standard output")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "ompp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *only == "start" {
		return printStart(dir)
	}
	targets, err := buildTargets(dir)
	if err != nil {
		return err
	}
	var res results
	mpiTargets, err := buildMPITargets(dir)
	if err != nil {
		return err
	}
	for _, t := range mpiTargets {
		for _, op := range mpiOperations {
			if !wanted(t, op) {
				continue
			}
			c, err := measureMPICost(t, op, dir)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.runtime, op.title, err)
			}
			res.mpi = append(res.mpi, c)
		}
	}
	for _, t := range targets {
		for _, op := range operations {
			if !wanted(t, op) {
				continue
			}
			c, err := measureCost(t, op, dir)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.runtime, op.title, err)
			}
			res.costs = append(res.costs, c)
		}
		if *only != "" {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: attaching\n", t.runtime)
		a, err := measureAttach(t, dir)
		if err != nil {
			return fmt.Errorf("%s, attaching: %w", t.runtime, err)
		}
		res.attach = append(res.attach, a)
	}
	if ok, _ := regexp.MatchString(*only, "sampling"); ok {
		fmt.Fprintln(os.Stderr, "sampling")
		if res.samples, err = measureSampling(dir); err != nil {
			return err
		}
	}
	if *only == "" {
		fmt.Fprintln(os.Stderr, "decoder and engine")
		if res.stages, err = measureStages(); err != nil {
			return err
		}
	}
	text := res.markdown()
	if *output == "-" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*output), 0o755); err != nil {
		return err
	}
	return os.WriteFile(*output, []byte(text), 0o644)
}

// wanted tells whether an operation is to be measured, and says that it is.
func wanted(t target, op operation) bool {
	name := t.runtime + ": " + op.title
	if ok, err := regexp.MatchString(*only, name); err != nil || !ok {
		return false
	}
	fmt.Fprintln(os.Stderr, name)
	return true
}
