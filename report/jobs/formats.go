// Package jobs renders merged jobs: one file per format or section, and the table of formats. It
// computes no figures of its own; those come from package job.
package jobs

import (
	"io"

	"ompp-attach/job"
	"ompp-attach/report"
)

// Format is one way to write a merged job.
type Format struct {
	Name        string
	Description string
	// Files of which the format consists.
	Files []File
	// Severity: it needs Job.Severity.
	Severity bool
}

// File is one file of a format.
type File struct {
	Name  string
	Write func(io.Writer, *job.Job, report.Options) error
}

// Formats are all formats of a job, in the order in which the help lists them.
var Formats = []Format{
	{"text", "the job's report", []File{{"job.txt", WriteText}}, false},
	{"csv", "tables: ranks, regions, MPI calls, partners, sizes of messages", []File{
		{"job.ranks.csv", writeRanksCSV}, {"job.regions.csv", writeRegionsCSV}, {"job.calls.csv", writeCallsCSV},
		{"job.partners.csv", writePartnersCSV}, {"job.sizes.csv", writeSizesCSV}}, false},
	{"json", "the same figures for programs", []File{{"job.json", WriteJSON}}, false},
	{"cube", "for Cube, Extra-P, Hatchet: time by property, call path, thread", []File{{"job.cubex", writeCube}}, true},
	{"pprof", "one profile over all ranks, labelled rank and host", []File{{"job.pb.gz", WritePprof}}, false},
}
