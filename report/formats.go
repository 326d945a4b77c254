// Package report renders recorded profiles: one file per format and the table
// of formats. It computes no figures of its own; those come from the profile
// and from package analysis.
package report

import (
	"io"

	"ompp-attach/attribution"
)

// Format is one way to write a profile. To add one, write its file and add its
// row to Formats.
type Format struct {
	Name        string // as the user selects it
	Suffix      string // how names of its files end
	Description string // one line for help texts
	// Write writes a profile that attribution.Validate accepts. Its errors
	// are those of the writer.
	Write func(io.Writer, *attribution.Profile) error
}

// Formats are the formats there are, in the order in which help lists them.
var Formats = []Format{
	{"ompp", "profile.ompp.txt", "ompP's text report", WriteOmpp},
	{"pprof", "profile.pb.gz", "for go tool pprof: region paths as call stacks", WritePprof},
}

// FormatNamed returns the format of that name; ok is false if there is none.
func FormatNamed(name string) (f Format, ok bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}
