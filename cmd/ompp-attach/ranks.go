package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ompp-attach/job"
	"ompp-attach/profile"
)

// isRank tells whether a profile is that of a known rank. A process that did not reach MPI_Init, or
// whose library does not tell its rank, counts as a process without one.
func isRank(p *profile.Profile) bool { return p.Meta.MPI != nil && p.Meta.MPI.Rank >= 0 }

// ranksLines tell, in one line for each job, which ranks' profiles were written.
func (o *output) ranksLines(profiles []*profile.Profile) (lines []string) {
	jobs := map[string][]*profile.Profile{}
	for _, p := range profiles {
		if isRank(p) {
			jobs[p.Meta.MPI.Job] = append(jobs[p.Meta.MPI.Job], p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		lines = append(lines, o.ranksLine(jobs[name]))
	}
	return lines
}

func (o *output) ranksLine(profiles []*profile.Profile) string {
	var ranks []int
	var longest int64
	size := 0
	for _, p := range profiles {
		ranks = append(ranks, p.Meta.MPI.Rank)
		longest = max(longest, p.Meta.Duration)
		size = max(size, p.Meta.MPI.Size)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	files := filepath.Join(o.dir, recordStem+".rank*")
	took := time.Duration(longest).Round(10 * time.Millisecond)
	if o.rank != nil { // each rank's tool prints for itself, and one prints for all
		return fmt.Sprintf("measured for %s, of %d ranks: %s", took, size, files)
	}
	noun := "ranks"
	if len(ranks) == 1 {
		noun = "rank"
	}
	line := fmt.Sprintf("%s %s of %d measured, %s: %s", noun, strings.Join(job.Spans(ranks), ","), size, took, files)
	if size > len(ranks) {
		line += fmt.Sprintf("; the others ran on other nodes or were not measured: start ompp-attach by the launcher, mpirun -n %d ompp-attach run -o %s -- PROGRAM", size, o.dir)
	}
	return line
}
