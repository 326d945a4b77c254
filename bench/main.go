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
	only    = flag.String("only", "", "regular expression: measure nothing else (\"MPICH: MPI_Send\", \"libgomp: cg\", \"command: plate\", \"start\", \"launches\", \"sampling\", \"live\", \"stages\")")
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
func (r *results) measure(dir string) error {
	targets, err := compilers(dir)
	if err != nil {
		return err
	}
	mpi, err := mpiCompilers(dir)
	if err != nil {
		return err
	}
	for _, t := range targets {
		r.costs = append(r.costs, r.measureOps(t, dir, "ops.c", groups...)...)
	}
	for _, t := range mpi {
		r.mpi = append(r.mpi, r.measureOps(t, dir, "mpi.c", mpiGroup)...)
	}
	r.measureApps(targets, mpi, dir)
	for _, c := range commands(targets, mpi) {
		if wanted("command: " + c.title) {
			r.note(c.title, r.measureCommand(c, dir))
		}
	}
	for _, part := range []struct {
		name, title string
		measure     func() error
	}{
		{"start", "attaching and detaching", func() (err error) { r.start, err = measureStart(dir); return err }},
		{"launches", "starting processes", func() (err error) { r.launches, err = measureLaunches(dir); return err }},
		{"sampling", "sampling", func() (err error) { r.samples, err = measureSampling(dir); return err }},
		{"live", "timelines of a running program", func() (err error) { r.live, err = measureLive(targets[0], dir); return err }},
		{"stages", "decoder and engine", func() (err error) { r.stages, err = measureStages(); return err }},
	} {
		if wanted(part.name) {
			fmt.Fprintln(os.Stderr, part.title)
			r.note(part.title, part.measure())
		}
	}
	return r.failed
}

// note says that something could not be measured, if there is an error.
func (r *results) note(what string, err error) {
	if err == nil {
		return
	}
	err = fmt.Errorf("%s: %w", what, err)
	fmt.Fprintln(os.Stderr, "bench: "+err.Error())
	r.failures = append(r.failures, what)
	r.failed = errors.Join(r.failed, err)
}

// measureOps measures groups of operations of a program.
func (r *results) measureOps(t target, dir, source string, groups ...group) (out []*costs) {
	t, err := t.build(source, dir)
	if err != nil {
		r.note(t.runtime, err)
		return nil
	}
	for _, g := range groups {
		c, err := measureGroup(t, g, dir)
		r.note(t.runtime+", "+g.titles(), err)
		if c != nil && err == nil {
			out = append(out, c)
		}
	}
	return out
}

// measureApps measures whole programs.
func (r *results) measureApps(targets, mpi []target, dir string) {
	add := func(title string, c *appCost, err error) {
		if r.note(title, err); err == nil {
			r.apps = append(r.apps, c)
		}
	}
	for _, t := range targets {
		for _, a := range apps {
			if wanted(t.runtime + ": " + a.name) {
				c, err := measureApp(t, a, dir)
				add(t.runtime+", "+a.name, c, err)
			}
		}
	}
	for _, t := range mpi {
		if wanted(t.runtime + ": " + hybrid.name) {
			c, err := measureHybrid(t, targets[0].shim, dir)
			add(t.runtime+", "+hybrid.name, c, err)
		}
	}
}

// wanted tells whether something is to be measured.
func wanted(name string) bool {
	ok, err := regexp.MatchString(*only, name)
	return err == nil && ok
}
