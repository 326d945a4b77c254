package efficiencies

import (
	"io"

	"ompp-attach/efficiency"
	"ompp-attach/report/words"
)

// Format is a format of the report.
type Format struct {
	Name  string // as --format takes it
	Files []File
}

// File is a file of a format.
type File struct {
	Suffix string // of the file's name
	Write  func(io.Writer, *efficiency.Run, Options) error
}

// Formats lists the formats, in the order of the help.
var Formats = []Format{
	{"text", []File{{"efficiency.txt", WriteText}}},
	{"csv", []File{{"efficiency.csv", WriteTimesCSV}, {"efficiency.metrics.csv", WriteMetricsCSV}}},
	{"json", []File{{"efficiency.json", WriteJSON}}},
	{"talp", []File{{"talp.json", WriteTALP}}},
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
