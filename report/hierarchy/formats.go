package hierarchy

import (
	"io"

	"ompp-attach/hiera"
	"ompp-attach/report/words"
)

// Options are choices of the reader.
type Options struct {
	Graph *hiera.Graph // nil: there is none
	// Plain are the times in ns of a run without measurement: one for all processes, or one for
	// each; none: they are not known.
	Plain []int64
	All   bool // text shows all rows
	Rank  int  // text shows the call sites of this process; -1: of all together
}

// Format is a format of the statistics. To add one, write its file and add a row to Formats.
type Format struct {
	Name  string // as --format takes it
	Files []File
}

// File is a file of a format.
type File struct {
	Name  string
	Write func(io.Writer, *hiera.Statistics, Options) error
}

// Formats lists the formats, in the order of the help.
var Formats = []Format{
	{"text", []File{{"hiera.txt", WriteText}}},
	{"csv", csvFiles()},
	{"json", []File{{"hiera.json", WriteJSON}}},
}

// FormatNamed returns the format of that name; ok is false if there is none.
func FormatNamed(name string) (f Format, ok bool) {
	return words.Named(Formats, nameOf, name)
}

func nameOf(f *Format) string { return f.Name }

// Names returns the formats' names for a help text.
func Names() string {
	return words.Names(Formats, nameOf)
}
