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
	// Tree lists the files of a format that is a directory of files, in place of Files.
	Tree func(*job.Job, report.Options) []report.Output
}

// Outputs returns the files of a job in the format.
func (f *Format) Outputs(j *job.Job, o report.Options) (out []report.Output) {
	if f.Tree != nil {
		return f.Tree(j, o)
	}
	for _, file := range f.Files {
		out = append(out, report.Output{Name: file.Name, Write: func(w io.Writer) error { return file.Write(w, j, o) }})
	}
	return out
}

// File is one file of a format.
type File struct {
	Name  string
	Write func(io.Writer, *job.Job, report.Options) error
}

// Formats are all formats of a job, in the order in which the help lists them.
var Formats = []Format{
	{"text", "the job's report", []File{{"job.txt", WriteText}}, false, nil},
	{"csv", "tables: ranks, regions, MPI calls, partners, sizes of messages", []File{
		{"job.ranks.csv", writeRanksCSV}, {"job.regions.csv", writeRegionsCSV}, {"job.calls.csv", writeCallsCSV},
		{"job.partners.csv", writePartnersCSV}, {"job.sizes.csv", writeSizesCSV}}, false, nil},
	{"json", "the same figures for programs", []File{{"job.json", WriteJSON}}, false, nil},
	{"cube", "for Cube, Extra-P, Hatchet: time by property, call path, thread", []File{{"job.cubex", writeCube}}, true, nil},
	{"tau", "for TAU's ParaProf and pprof, and Hatchet: a directory, a file for each thread", nil, true, tauTree},
	{"pprof", "one profile over all ranks, labelled rank and host", []File{{"job.pb.gz", WritePprof}}, false, nil},
}
