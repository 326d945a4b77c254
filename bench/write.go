package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// results are one run's measurements.
type results struct {
	took     time.Duration
	failures []string // what could not be measured
	failed   error    // of these failures
	costs    []*costs
	mpi      []*costs
	apps     []*appCost
	commands []*commandCost
	start    *startResults
	launches []launching
	stages   []stage
	samples  []sampleCost
	live     []*live
}

// page is the text under way.
type page struct{ strings.Builder }

func (p *page) line(format string, a ...any) { fmt.Fprintf(p, format+"\n", a...) }

// row writes a row of a table.
func (p *page) row(cells ...string) { p.line("| %s |", strings.Join(cells, " | ")) }

// head writes a table's head: titles that begin with > are of numbers.
func (p *page) head(titles ...string) {
	var names, rules []string
	for _, t := range titles {
		name, number := strings.CutPrefix(t, ">")
		rule := "---"
		if number {
			rule = "---:"
		}
		names, rules = append(names, name), append(rules, rule)
	}
	p.row(names...)
	p.row(rules...)
}

func (r *results) markdown() string {
	p := &page{}
	p.line("# Benchmarks")
	p.line("")
	p.line("Written by `make bench`, all in one run of %s; do not edit. %s.", r.took.Round(time.Second), machine())
	p.line("")
	p.line("Medians of %d turns, of operations and samples %d, in brackets the range. The ways of observing a program take turns on one running process, so what", *rounds, fewer())
	p.line("else the machine does falls on all of them alike; differences and ratios are made round by round, and are medians of")
	p.line("those. bpftrace and perf take every other round only. Teams of 2 on few cores vary most. Figures of other machines differ in")
	p.line("size; the ratios are what carries over.")
	p.line("")
	if len(r.failures) > 0 {
		p.line("**Could not be measured in this run:** %s.", strings.Join(r.failures, "; "))
		p.line("")
	}
	r.writeGoals(p)
	r.writeCosts(p)
	r.writeMPI(p)
	r.writeApps(p)
	r.writeCommands(p)
	r.writeCounters(p)
	r.writeSamples(p)
	r.writeStages(p)
	r.writeLive(p)
	if r.start != nil {
		p.WriteString(r.start.markdown())
	}
	if len(r.launches) > 0 {
		p.WriteString(launchesMarkdown(r.launches))
	}
	return filled(strings.TrimRight(p.String(), "\n") + "\n")
}

// columns is how long lines of a document's text may be.
const columns = 100

// filled breaks the lines of a document's paragraphs and list items anew, behind the last word that
// fits. Titles and tables stay as they are.
func filled(text string) string {
	var b strings.Builder
	at := 0 // length of the line under way; 0: a paragraph begins
	indent := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '|' || line[0] == '#' {
			if at > 0 {
				b.WriteByte('\n')
			}
			at, indent = 0, ""
			b.WriteString(line + "\n")
			continue
		}
		if strings.HasPrefix(line, "- ") {
			if at > 0 {
				b.WriteByte('\n')
			}
			at, indent = 0, "  "
		}
		for _, word := range strings.Fields(line) {
			switch n := utf8.RuneCountInString(word); {
			case at == 0:
				at = n
			case at+1+n > columns:
				b.WriteString("\n" + indent)
				at = len(indent) + n
			default:
				b.WriteByte(' ')
				at += 1 + n
			}
			b.WriteString(word)
		}
	}
	if at > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// figure formats a spread; verb is of one number.
func figure(s spread, ok bool, verb string) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf(verb+" ("+verb+"-"+verb+")", s.median, s.min, s.max)
}

// percent formats shares, whose signs tell.
func percent(s spread, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f)", 100*s.median, 100*s.min, 100*s.max)
}

// machine says where the figures come from.
func machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	kernel := "unknown kernel"
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		kernel = unix.ByteSliceToString(u.Release[:])
	}
	version := func(command string) string {
		if out, err := exec.Command(command, "--version").Output(); err == nil {
			first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			return first
		}
		return "no " + command
	}
	return fmt.Sprintf("%s: %s, %d cores, Linux %s, %s, %s, %s, %s", time.Now().Format(time.DateOnly), cpu, runtime.NumCPU(), kernel,
		runtime.Version(), version("gcc"), version("bpftrace"), version("perf"))
}
