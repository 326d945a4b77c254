package report

import (
	"io"

	"ompp-attach/job"
)

// JobFormat is one way to write a merged job.
type JobFormat struct {
	Name        string
	Description string
	// Files of which the format consists.
	Files []JobFile
}

// JobFile is one file of a format.
type JobFile struct {
	Name  string
	Write func(io.Writer, *job.Job, Options) error
}

// JobFormats are all formats of a job, in the order in which the help lists them.
var JobFormats = []JobFormat{
	{"text", "the job's report", []JobFile{{"job.txt", WriteJobText}}},
	{"csv", "tables: ranks, regions, MPI calls", []JobFile{
		{"job.ranks.csv", writeRanksCSV}, {"job.regions.csv", writeRegionsCSV}, {"job.calls.csv", writeCallsCSV}}},
	{"json", "the same figures for programs", []JobFile{{"job.json", WriteJobJSON}}},
	{"pprof", "one profile over all ranks, labelled rank and host", []JobFile{{"job.pb.gz", WriteJobPprof}}},
}

// JobFormatNamed returns the format with a name. ok is false if there is none.
func JobFormatNamed(name string) (f JobFormat, ok bool) {
	for _, f := range JobFormats {
		if f.Name == name {
			return f, true
		}
	}
	return JobFormat{}, false
}
