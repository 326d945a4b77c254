package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/efficiency"
	"ompp-attach/profile"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/properties"
	"ompp-attach/report/words"
)

// Where probes took more than all of the processor time, reports print no efficiencies and no
// properties, but say that these cannot be told. As measured, they print them.
func TestHiddenInReports(t *testing.T) {
	const says = "cannot be told: by the cost of a hit, probes took more than all of the processor time on rank 0."
	for _, raw := range []bool{false, true} {
		o := Options{Decimals: 2, Raw: raw}
		p := o.View(overestimated())
		outputs := map[string]func(out *bytes.Buffer, p *profile.Profile) error{
			"ompp":    func(out *bytes.Buffer, p *profile.Profile) error { return WriteOmpp(out, p, o) },
			"summary": func(out *bytes.Buffer, p *profile.Profile) error { return Summary(out, p, nil, o) },
			"efficiency": func(out *bytes.Buffer, p *profile.Profile) error {
				return efficiencies.WriteText(out, efficiency.OfProfile(p), efficiencies.Options{Label: words.Region})
			},
			"pprof": func(out *bytes.Buffer, p *profile.Profile) error {
				out.WriteString(strings.Join(pprofComments(p, raw), " "))
				return nil
			},
			"properties": func(out *bytes.Buffer, p *profile.Profile) error {
				c := o.Severity(p)
				return properties.Formats[0].Write(out, c, o.Properties(c))
			},
		}
		for name, write := range outputs {
			var out bytes.Buffer
			if err := write(&out, p); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(out.String()), " ")
			if strings.Contains(got, says) == raw {
				t.Errorf("%s, raw %t:\n%s", name, raw, out.String())
			}
			for _, figure := range []string{"(e_mt", "threads' time was useful", "costs most:", "Property P00001"} {
				if !raw && strings.Contains(got, figure) {
					t.Errorf("%s has %q:\n%s", name, figure, out.String())
				}
			}
		}
	}
}
