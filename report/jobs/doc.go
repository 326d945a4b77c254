// Package jobs renders merged jobs: one file per format or section, and the table of formats. It
// computes no figures of its own; those come from package job.
package jobs
