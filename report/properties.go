package report

import (
	"io"

	"ompp-attach/profile"
	"ompp-attach/report/cube"
	"ompp-attach/report/properties"
	"ompp-attach/report/tau"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// Severity returns the severities of a process that the options ask for.
func (o Options) Severity(p *profile.Profile) *severity.Cube {
	return severity.Of(o.view(p), o.Severities())
}

// Severities returns the choices of the options on severities.
func (o Options) Severities() severity.Options {
	return severity.Options{Volumes: o.Volumes, Conditions: o.Conditions}
}

// Properties returns the choices of the options on the text of a run's properties.
func (o Options) Properties(c *severity.Cube) properties.Options {
	var wall profile.Profile
	for _, p := range c.Processes {
		wall.Meta.Duration = max(wall.Meta.Duration, p.Wall)
	}
	clock := o.clock(&wall)
	return properties.Options{All: o.All, Seconds: func(ns int64) string { return clock.Seconds(ns, 0) }, Clean: words.Clean}
}

// WriteCube writes the severities of a process for Cube.
func WriteCube(w io.Writer, p *profile.Profile, o Options) error {
	return cube.Write(w, o.Severity(p))
}

// TAU lists the files of a process's profile for TAU.
func TAU(p *profile.Profile, o Options) []Output { return OutputsOfTAU(o.Severity(p)) }

// OutputsOfTAU lists the files of a run's profile for TAU.
func OutputsOfTAU(c *severity.Cube) (out []Output) {
	for _, f := range tau.Files(c) {
		out = append(out, Output(f))
	}
	return out
}
