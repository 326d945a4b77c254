package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// launching is what starting many programs takes under a command that has been
// launched, in milliseconds each.
type launching struct {
	what           string
	runtime        bool   // the programs use one
	bare, measured spread // all of it, and
	more           spread // what each takes longer: medians of rounds
}

// goalLaunch is how much longer starting a program may take that uses no runtime, in
// milliseconds.
const goalLaunch = 5

// launchCase is a script that starts as many programs as it is told.
type launchCase struct {
	what   string
	script string
	n      int
}

// measureLaunches measures what a tree of processes takes longer whose programs, but
// for the last case's, use no runtime.
func measureLaunches(dir string) (out []launching, err error) {
	const small = "#include <omp.h>\nint main(void)\n{\n\tint n = 0;\n#pragma omp parallel reduction(+ : n)\n\tn++;\n\treturn n == 0;\n}\n"
	program := filepath.Join(dir, "brief")
	if err := os.WriteFile(program+".c", []byte(small), 0o644); err != nil {
		return nil, err
	}
	if msg, err := exec.Command("gcc", "-O2", "-fopenmp", "-o", program, program+".c").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, msg)
	}
	sources := filepath.Join(dir, "sources")
	if err := os.Mkdir(sources, 0o755); err != nil {
		return nil, err
	}
	const files = 111
	for i := range files {
		text := fmt.Sprintf("int f%d(int a) { return a + %d; }\n", i, i)
		if err := os.WriteFile(filepath.Join(sources, fmt.Sprintf("f%d.c", i)), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	makefile := "OBJECTS = $(wordlist 1,$(N),$(patsubst %.c,%.o,$(wildcard *.c)))\nall: $(OBJECTS)\n%.o: %.c\n\tgcc -c -O1 -o $@ $<\n"
	if err := os.WriteFile(filepath.Join(sources, "Makefile"), []byte(makefile), 0o644); err != nil {
		return nil, err
	}
	for _, c := range []launchCase{
		{"`/bin/true`, one after the other", "i=0; while [ $i -lt $0 ]; do /bin/true; i=$((i+1)); done", 200},
		{"`/bin/true`, four at a time", "seq $0 | xargs -r -P 4 -n 1 /bin/true", 200},
		{"`make -j4`, small compilations", "cd " + sources + " && rm -f *.o && make -s -j4 N=$0", files},
		{"an OpenMP program with one region", "i=0; while [ $i -lt $0 ]; do OMP_NUM_THREADS=2 " + program + "; i=$((i+1)); done", 50},
	} {
		l, err := measureLaunch(c, dir)
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.what, err)
		}
		l.runtime = strings.Contains(c.script, program)
		out = append(out, l)
	}
	return out, nil
}

// measureLaunch runs a case by itself and behind the tool, in turns; what the shell
// and the tool itself take is that of a run that starts nothing.
func measureLaunch(c launchCase, dir string) (launching, error) {
	behind := []string{*tool, "run", "--overwrite", "-q", "-o", filepath.Join(dir, "launches"), "--"}
	took := func(before []string, n int) (float64, error) {
		args := append(before[:len(before):len(before)], "/bin/sh", "-c", c.script, strconv.Itoa(n))
		cmd := exec.Command(args[0], args[1:]...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, stderr.String())
		}
		return float64(time.Since(begin)) / 1e6, nil
	}
	each := func(before []string) (float64, error) {
		none, err := took(before, 0)
		if err != nil {
			return 0, err
		}
		all, err := took(before, c.n)
		return (all - none) / float64(c.n), err
	}
	var bare, measured, more []float64
	for range *rounds {
		b, err := each(nil)
		if err != nil {
			return launching{}, err
		}
		m, err := each(behind)
		if err != nil {
			return launching{}, err
		}
		bare, measured, more = append(bare, b), append(measured, m), append(more, m-b)
	}
	return launching{what: c.what, bare: spreadOf(bare), measured: spreadOf(measured), more: spreadOf(more)}, nil
}

// launchesMarkdown is the part of docs/benchmarks.md about starts of processes.
func launchesMarkdown(all []launching) string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("")
	p("## What starting a process costs")
	p("")
	p("Milliseconds per program that a launched shell or `make` starts, without the start of the tool itself. Goal where no runtime is used: under %d more.", goalLaunch)
	p("")
	p("| what is started | bare | measured | more |")
	p("| --- | ---: | ---: | ---: |")
	for _, l := range all {
		p("| %s | %.2f (%.2f-%.2f) | %.2f (%.2f-%.2f) | %.2f (%.2f-%.2f) |", l.what, l.bare.median, l.bare.min, l.bare.max,
			l.measured.median, l.measured.min, l.measured.max, l.more.median, l.more.min, l.more.max)
	}
	return b.String()
}
