package jobs

import (
	"io"

	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/cube"
)

// writeCube writes the severities of a job for Cube.
func writeCube(w io.Writer, j *job.Job, _ report.Options) error { return cube.Write(w, j.Severity) }

// TAUDirectory is the name of the directory of a job's profile for TAU.
const TAUDirectory = "job.tau"

// tauTree lists the files of a job's profile for TAU.
func tauTree(j *job.Job, _ report.Options) []report.Output {
	files := report.OutputsOfTAU(j.Severity)
	for i := range files {
		files[i].Name = TAUDirectory + "/" + files[i].Name
	}
	return files
}
