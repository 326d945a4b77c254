//go:build ignore

// SPDX-License-Identifier: Apache-2.0

// Times runs `go test`, prints what `go test` prints, and notes how long each test took:
//
//	go run scripts/times.go FILE go test ARGS...  # appends to FILE
//	go run scripts/times.go FILE                  # prints the slowest packages and tests
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // s
}

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("usage: times FILE [go test ARGS...]"))
	}
	if len(os.Args) == 2 {
		fail(slowest(os.Args[1]))
		return
	}
	notes, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	fail(err)
	cmd := exec.Command(os.Args[2], slices.Insert(slices.Clone(os.Args[3:]), 1, "-json")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	fail(err)
	fail(cmd.Start())
	fail(convert(out, notes))
	if err := cmd.Wait(); err != nil {
		os.Exit(max(1, cmd.ProcessState.ExitCode()))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "times:", err)
		os.Exit(1)
	}
}

// convert prints the events' output as `go test` does without -v: that of tests that failed, or
// did not end. It notes each test that ended.
func convert(r io.Reader, notes io.Writer) error {
	said := map[[2]string][]event{} // by package and test without subtest
	failed := map[[2]string]bool{}
	show := func(test [2]string, all bool) {
		for _, e := range said[test] {
			if (all || failed[[2]string{e.Package, e.Test}]) && !strings.HasPrefix(e.Output, "=== ") {
				fmt.Print(e.Output)
			}
		}
		delete(said, test)
	}
	for in := json.NewDecoder(bufio.NewReader(r)); ; {
		var e event
		if err := in.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("what go test prints: %w", err)
		}
		top, _, _ := strings.Cut(e.Test, "/")
		test := [2]string{e.Package, top}
		switch {
		case e.Action == "build-output", e.Action == "output" && e.Test == "" && e.Output != "PASS\n":
			fmt.Print(e.Output)
		case e.Action == "output" && e.Test != "":
			said[test] = append(said[test], e)
		case e.Action == "fail" && e.Test == "": // also by a panic, or by its time limit
			for of := range said {
				if of[0] == e.Package {
					show(of, true)
				}
			}
		}
		if e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
			continue
		}
		failed[[2]string{e.Package, e.Test}] = e.Action == "fail"
		if e.Test != "" && e.Test == top {
			show(test, false)
		}
		if _, err := fmt.Fprintf(notes, "%.2f %s %s\n", e.Elapsed, e.Package, e.Test); err != nil {
			return err
		}
	}
}

// slowest prints the packages and tests that took longest.
func slowest(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	type took struct {
		s    float64
		what string
	}
	var packages, tests []took
	for line := range strings.Lines(string(b)) {
		var s float64
		var pkg, test string
		n, _ := fmt.Sscan(line, &s, &pkg, &test)
		switch {
		case n == 2:
			packages = append(packages, took{s, pkg})
		case n == 3 && !strings.Contains(test, "/"):
			tests = append(tests, took{s, pkg + " " + test})
		}
	}
	for _, of := range []struct {
		title string
		took  []took
	}{{"packages", packages}, {"tests, those in parallel with the time that they shared", tests}} {
		slices.SortFunc(of.took, func(a, b took) int { return int(b.s*100) - int(a.s*100) })
		fmt.Printf("The slowest %s:\n", of.title)
		for _, t := range of.took[:min(15, len(of.took))] {
			fmt.Printf("%8.1f s  %s\n", t.s, t.what)
		}
	}
	return nil
}
