package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// rounds is how often each way gets its turn, millis how long one turn of an
// operation lasts.
var (
	rounds  = flag.Int("rounds", 5, "turns of each way; medians are taken over them")
	millis  = flag.Int("ms", 50, "length of an operation's turn in milliseconds")
	tool    = flag.String("tool", "bin/ompp-attach", "the built ompp-attach")
	only    = flag.String("only", "", "regular expression: measure nothing else (\"MPICH: MPI_Send\", \"libgomp: cg\", \"command: plate\", \"start\", \"launches\", \"sampling\", \"stages\")")
	verbose = flag.Bool("v", false, "say how long each turn lasts")
	output  = flag.String("o", "docs/benchmarks.md", "file to write, - for standard output")
)

// fewer is the number of rounds of what varies little, operations and samples.
func fewer() int { return (*rounds + 1) / 2 }

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	if _, err := regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	dir, err := os.MkdirTemp("", "ompp-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := time.Now()
	var res results
	failed := res.measure(dir)
	res.took = time.Since(begin)
	text := res.markdown()
	if *output == "-" {
		_, err = os.Stdout.WriteString(text)
	} else if err = os.MkdirAll(filepath.Dir(*output), 0o755); err == nil {
		err = os.WriteFile(*output, []byte(text), 0o644)
	}
	return errors.Join(failed, err)
}

// measure measures all that is wanted. What fails is left out, and said.
func (r *results) measure(dir string) (failed error) {
	note := func(what string, err error) {
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
			fmt.Fprintln(os.Stderr, "bench: "+err.Error())
			r.failures = append(r.failures, what)
			failed = errors.Join(failed, err)
		}
	}
	targets, err := compilers(dir)
	if err != nil {
		return err
	}
	mpi, err := mpiCompilers(dir)
	if err != nil {
		return err
	}
	measureOps := func(t target, source string, groups ...group) (out []*costs) {
		t, err := t.build(source, dir)
		if err != nil {
			note(t.runtime, err)
			return nil
		}
		for _, g := range groups {
			c, err := measureGroup(t, g, dir)
			note(t.runtime+", "+g.titles(), err)
			if c != nil && err == nil {
				out = append(out, c)
			}
		}
		return out
	}
	for _, t := range targets {
		r.costs = append(r.costs, measureOps(t, "ops.c", groups...)...)
	}
	for _, t := range mpi {
		r.mpi = append(r.mpi, measureOps(t, "mpi.c", mpiGroup)...)
	}
	for _, t := range targets {
		for _, a := range apps {
			if wanted(t.runtime + ": " + a.name) {
				c, err := measureApp(t, a, dir)
				note(t.runtime+", "+a.name, err)
				if err == nil {
					r.apps = append(r.apps, c)
				}
			}
		}
	}
	for _, t := range mpi {
		if wanted(t.runtime + ": " + hybrid.name) {
			c, err := measureHybrid(t, targets[0].shim, dir)
			note(t.runtime+", "+hybrid.name, err)
			if err == nil {
				r.apps = append(r.apps, c)
			}
		}
	}
	for _, c := range commands(targets, mpi) {
		if wanted("command: " + c.title) {
			note(c.title, r.measureCommand(c, dir))
		}
	}
	if wanted("start") {
		fmt.Fprintln(os.Stderr, "attaching and detaching")
		r.start, err = measureStart(dir)
		note("attaching and detaching", err)
	}
	if wanted("launches") {
		fmt.Fprintln(os.Stderr, "starting processes")
		r.launches, err = measureLaunches(dir)
		note("starting processes", err)
	}
	if wanted("sampling") {
		fmt.Fprintln(os.Stderr, "sampling")
		r.samples, err = measureSampling(dir)
		note("sampling", err)
	}
	if wanted("stages") {
		fmt.Fprintln(os.Stderr, "decoder and engine")
		r.stages, err = measureStages()
		note("decoder and engine", err)
	}
	return failed
}

// wanted tells whether something is to be measured.
func wanted(name string) bool {
	ok, err := regexp.MatchString(*only, name)
	return err == nil && ok
}
