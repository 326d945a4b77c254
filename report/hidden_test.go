package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/efficiency"
	"ompp-attach/profile"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/properties"
	"ompp-attach/report/tables"
	"ompp-attach/report/words"
	"ompp-attach/severity"
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

// Files for programs say in each line that times cannot be told: those of properties, and all
// tables. Tables also say why. Counts, and the time without a core, can be told.
func TestHiddenInTables(t *testing.T) {
	for _, raw := range []bool{false, true} {
		o := Options{Raw: raw}
		hidden := overestimated()
		hidden.Nodes[1].Stats[0].NoCore = &profile.Cost{Exec: 1e8, Body: 1e8}
		word, sentence := "probes", "What costs time cannot be told: by the cost of a hit"
		if raw {
			word = ""
		}
		check := func(name string, data []byte, want func(row map[string]string) string) {
			t.Helper()
			rows := csvRows(t, data)
			for _, row := range rows {
				if got, ok := row["untold"]; !ok || got != want(row) {
					t.Errorf("%s, raw %t: %v", name, raw, row)
				}
			}
			if len(rows) == 0 {
				t.Errorf("%s has no rows", name)
			}
		}
		always := func(map[string]string) string { return word }
		for _, way := range tables.Ways {
			files := map[string]*bytes.Buffer{}
			for _, format := range tables.Formats {
				files[format] = &bytes.Buffer{}
				if err := WriteBy(files[format], hidden, way, format, o); err != nil {
					t.Fatal(err)
				}
			}
			if way.Name == "property" && files["csv"].Len() < 200 {
				continue // it has no findings
			}
			check(way.Name, files["csv"].Bytes(), always)
			if strings.Contains(files["text"].String(), sentence) == raw || strings.Contains(files["json"].String(), `"cannot_tell": "`+sentence) == raw ||
				strings.Contains(files["json"].String(), `"untold": "probes"`) == raw {
				t.Errorf("by %s, raw %t:\n%s\n%s", way.Name, raw, files["text"], files["json"])
			}
		}
		var cells, values bytes.Buffer
		if err := WriteCSV(&cells, hidden, o); err != nil {
			t.Fatal(err)
		}
		check("cells", cells.Bytes(), always)
		c := o.Severity(o.View(hidden))
		if err := properties.Formats[1].Write(&values, c, o.Properties(c)); err != nil {
			t.Fatal(err)
		}
		check("properties", values.Bytes(), func(row map[string]string) string {
			if row["unit"] != "ns" || row["property"] == severity.NoCore {
				return ""
			}
			return word
		})
		if text := values.String(); !strings.Contains(text, severity.NoCore) || !strings.Contains(text, ",occ,") {
			t.Errorf("no counts, or no time without a core, among the values:\n%s", text)
		}
	}
}
