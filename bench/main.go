// Command bench measures what profiling costs the target, how fast events are
// taken, and how long attaching lasts, and writes it down (make bench). The
// ways of observing a target take turns on one running process, so that what
// else the machine does falls on all of them alike.
package main

import (
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
	millis  = flag.Int("ms", 60, "length of an operation's turn in milliseconds")
	tool    = flag.String("tool", "bin/ompp-attach", "the built ompp-attach")
	only    = flag.String("only", "", "regular expression: measure nothing else (\"MPICH: MPI_Send\", \"libgomp: cg\", \"command: plate\", \"attaching\", \"sampling\", \"stages\")")
	verbose = flag.Bool("v", false, "say how long each turn lasts")
	output  = flag.String("o", "docs/benchmarks.md", "file to write, - for standard output")
)

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
	res, err := measure(dir)
	if err != nil {
		return err
	}
	res.took = time.Since(begin)
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

func measure(dir string) (*results, error) {
	var res results
	targets, err := compilers(dir)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		if t, err = t.build("ops.c", dir); err != nil {
			return nil, err
		}
		for _, g := range groups {
			c, err := measureGroup(t, g, dir)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", t.runtime, g.titles(), err)
			}
			if c != nil {
				res.costs = append(res.costs, c)
			}
		}
		if wanted(t.runtime + ": attaching") {
			a, err := measureAttach(t, dir)
			if err != nil {
				return nil, fmt.Errorf("%s, attaching: %w", t.runtime, err)
			}
			res.attach = append(res.attach, a)
		}
	}
	if res.mpi, err = measureMPIOperations(dir); err != nil {
		return nil, fmt.Errorf("MPI calls: %w", err)
	}
	if res.apps, err = measureApps(targets, dir); err != nil {
		return nil, err
	}
	if res.commands, err = measureCommands(targets, dir); err != nil {
		return nil, err
	}
	if wanted("sampling") {
		fmt.Fprintln(os.Stderr, "sampling")
		if res.samples, err = measureSampling(dir); err != nil {
			return nil, err
		}
	}
	if wanted("stages") {
		fmt.Fprintln(os.Stderr, "decoder and engine")
		if res.stages, err = measureStages(); err != nil {
			return nil, err
		}
	}
	return &res, nil
}

// wanted tells whether something is to be measured.
func wanted(name string) bool {
	ok, err := regexp.MatchString(*only, name)
	return err == nil && ok
}
