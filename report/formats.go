// Package report renders recorded profiles: one file per format and the table
// of formats. It computes no figures of its own; those come from the profile
// and from package analysis.
package report

import (
	"io"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Options are what the reader of a report may choose; the zero value is what
// most want.
type Options struct {
	Volumes mpi.Accounting // of collective operations' volumes
	Rules   analysis.Rules // of the overhead classes
	Classic bool           // without what ompP does not have: the regions of single MPI calls
	Raw     bool           // times as measured, with what the probes took of them
	All     bool           // also rows of text that take little time
	Sort    Order          // of the callgraph; empty: ByTime
	// Decimals of the times in text, which are seconds; 0: as the run's length asks for.
	Decimals int
	// Evaluators are formulas over the counters; nil: those that were given to the
	// measurement.
	Evaluators []string
}

// view returns the profile as the options want it.
func (o Options) view(p *profile.Profile) *profile.Profile {
	if !o.Raw {
		p = analysis.Adjust(p)
	}
	p = analysis.NameCallers(p)
	if !o.Classic {
		return p
	}
	v := *p
	v.Lost = slices.Clone(p.Lost)
	profile.Hide(&v, func(r *profile.Region) bool { return r.Construct == event.MPI })
	return &v
}

// Format is one way to write a profile. To add one, write its file and add its
// row to Formats.
type Format struct {
	Name        string // as the user selects it
	Suffix      string // how names of its files end
	Description string // one line for help texts
	// Write writes a profile that profile.Validate accepts. Its errors
	// are those of the writer.
	Write func(io.Writer, *profile.Profile, Options) error
	// Sampled: only of profiles that were sampled.
	Sampled bool
}

// Has tells whether a profile can be written so.
func (f *Format) Has(p *profile.Profile) bool { return !f.Sampled || p.Meta.Sampling != nil }

// Formats are the formats there are, in the order in which help lists them.
var Formats = []Format{
	{"ompp", "profile.ompp.txt", "ompP's text report", WriteOmpp, false},
	{"pprof", "profile.pb.gz", "for go tool pprof: region paths as call stacks", WritePprof, false},
	{"samples", "profile.samples.pb.gz", "for go tool pprof: sampled call stacks, with regions", WriteSamples, true},
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
