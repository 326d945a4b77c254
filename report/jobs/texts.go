package jobs

import (
	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/words"
)

// Notes returns what the reader must know about the figures of a job, as sentences.
func Notes(j *job.Job) (out []string) {
	for _, n := range jobNotes(j) {
		out = append(out, words.Clean(n))
	}
	return out
}

// Summary returns the lines that a job's report begins with: what holds up the job.
func Summary(j *job.Job, o report.Options) (out []report.Fact) {
	for _, l := range summaryLines(j, o) {
		out = append(out, report.Fact{Name: l[0], Text: words.Clean(l[1])})
	}
	return out
}
