package report

import (
	"io"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report/when"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// Options are choices of a report's reader. The zero value is the default.
type Options struct {
	Volumes mpi.Accounting // how volumes of collective operations are counted
	Rules   analysis.Rules // which rules make the overhead classes
	Classic bool           // without regions of single MPI calls, which ompP does not have
	Raw     bool           // times as measured, with the time that the probes took
	All     bool           // text reports show also rows that take little time
	Sort    Order          // order of the callgraph; empty: ByTime
	// Decimals is the number of decimals of times in text, which are in seconds; 0: chosen by the
	// length of the run.
	Decimals int
	// Evaluators are formulas over the counters; nil: those that the measurement recorded.
	Evaluators []string
	// Conditions are properties of the user's own.
	Conditions []severity.Condition
	// When is what happened when, for the page; nil: no timeline was recorded.
	When *when.Picture
}

// view returns the profile with the times that the options ask for.
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
	profile.HideCalls(&v)
	return &v
}

// Format is a format of reports. To add one, write its file and add a row to Formats.
type Format struct {
	Name        string // as --format takes it
	Suffix      string // suffix of its files' names
	Description string // one line for help texts
	// Write writes a profile that profile.Validate accepts. It returns only errors of the writer.
	Write func(io.Writer, *profile.Profile, Options) error
	// Sampled says that the format is only for profiles with samples.
	Sampled bool
	// Tree lists the files of a format that is a directory of files, and not a file. Write is nil
	// then, and Suffix is the suffix of the directory's name.
	Tree func(*profile.Profile, Options) []Output
}

// Output is a file of a report.
type Output struct {
	Name  string // of a format that is a directory: in it, and may have a directory itself
	Write func(io.Writer) error
}

// Outputs returns the files of a profile in the format. The names begin with the format's suffix.
func (f *Format) Outputs(p *profile.Profile, o Options) []Output {
	if f.Tree == nil {
		return []Output{{f.Suffix, func(w io.Writer) error { return f.Write(w, p, o) }}}
	}
	files := f.Tree(p, o)
	for i := range files {
		files[i].Name = f.Suffix + "/" + files[i].Name
	}
	return files
}

// Has tells whether the profile can be written in this format.
func (f *Format) Has(p *profile.Profile) bool { return !f.Sampled || p.Meta.Sampling != nil }

// Formats lists the formats, in the order of the help.
var Formats = []Format{
	{"ompp", "profile.ompp.txt", "ompP's text report", WriteOmpp, false, nil},
	{"pprof", "profile.pb.gz", "for go tool pprof: region paths as call stacks", WritePprof, false, nil},
	{"samples", "profile.samples.pb.gz", "for go tool pprof: sampled call stacks, with regions", WriteSamples, true, nil},
	{"csv", "profile.csv", "all figures, a line for each call path and thread", WriteCSV, false, nil},
	{"cube", "profile.cubex", "for Cube, Extra-P, Hatchet: time by property, call path, thread", WriteCube, false, nil},
	{"tau", "profile.tau", "for TAU's ParaProf and pprof, and Hatchet: a directory, a file for each thread", nil, false, TAU},
}

// FormatNamed returns the format with that name; ok is false if there is none.
func FormatNamed(name string) (f Format, ok bool) {
	return words.Named(Formats, func(f *Format) string { return f.Name }, name)
}

// clock is words.ClockOf, unless the user asks for a number of decimals.
func (o Options) clock(p *profile.Profile) words.Clock {
	if o.Decimals > 0 {
		return words.Clock(o.Decimals)
	}
	return words.ClockOf(p)
}
