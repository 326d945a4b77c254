// Command beyond measures what probes in a preloaded stub, in an OMPT tool's
// callbacks and in no kernel at all would cost a program that does nothing but
// OpenMP operations, beside the probes that ompp-attach places: the figures of
// docs/beyond-the-trap.md. x86-64 only.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
)

var (
	rounds = flag.Int("rounds", 5, "turns of each configuration; medians are taken over them")
	millis = flag.Int("ms", 100, "length of a turn in milliseconds")
	tool   = flag.String("tool", "bin/ompp-attach", "the built ompp-attach")
	only   = flag.String("only", "", "regular expression: measure no other operations (\"libgomp: lock\")")
	keep   = flag.String("keep", "", "build the programs and stubs in this folder, and leave them there")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "beyond: "+err.Error())
		os.Exit(1)
	}
}

// operation is what the target does over and over.
type operation struct {
	title, mode string
	threads     int
	free        bool // libgomp takes its fast path, on which our probes take no return
}

var operations = []operation{
	{"critical", "critical", 1, true},
	{"critical of 2 threads", "critical", 2, false},
	{"lock", "lock", 1, true},
	{"lock, one for each of 2 threads", "lock", 2, true},
	{"lock of 2 threads", "shared", 2, false},
	{"barrier, team of 1", "barrier", 1, false},
	{"barrier, team of 2", "barrier", 2, false},
	{"task, team of 1", "task", 1, false},
	{"task, team of 2", "task", 2, false},
}

func run() error {
	dir := *keep
	if dir == "" {
		tmp, err := os.MkdirTemp("", "ompp-beyond-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	targets, err := build(dir)
	if err != nil {
		return err
	}
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	fmt.Printf("| runtime | operation | %s | empty/jump | empty/late |\n| --- | --- |%s\n", strings.Join(titles, " | "), strings.Repeat(" ---: |", len(columns)+2))
	for _, t := range targets {
		for _, op := range operations {
			if ok, err := regexp.MatchString(*only, t.runtime+": "+op.title); err != nil || !ok {
				continue
			}
			ns, err := measure(t, op, dir)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.runtime, op.title, err)
			}
			fmt.Printf("| %s | %s |", t.runtime, op.title)
			for i := range columns {
				fmt.Printf(" %s |", ns[i].text(ns[bare]))
			}
			fmt.Printf(" %s | %s |\n", ratio(ns, jump), ratio(ns, late))
		}
	}
	return nil
}

// ratio is how many times dearer probes at the places of ours are than others,
// with the same program: one that does nothing.
func ratio(ns [numColumns]spread, other int) string {
	return fmt.Sprintf("%.2f", (ns[emptySame].median-ns[bare].median)/(ns[other].median-ns[bare].median))
}

// spread is the middle and the range of repeated measurements, in ns.
type spread struct {
	median, min, max float64
	none             bool
}

// text shows what comes on top of the bare operation.
func (s spread) text(bare spread) string {
	if s.none {
		return "-"
	}
	var over float64
	if s != bare {
		over = bare.median
	}
	ns := func(v float64) float64 { return math.Round(v-over) + 0 } // no -0
	return fmt.Sprintf("%.0f (%.0f to %.0f)", ns(s.median), ns(s.min), ns(s.max))
}
