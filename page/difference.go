package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"ompp-attach/compare"
	"ompp-attach/report/difference"
)

// Difference holds the figures of the page on the difference of two sides, as JSON.
type Difference struct {
	Version int             `json:"version"`
	Kind    string          `json:"kind"`    // "difference"
	Figures json.RawMessage `json:"figures"` // what diff writes as JSON
}

// WriteDifference writes the page of a comparison. The comparison must be made with disjoint
// overhead classes, since parts of one bar may not overlap.
func WriteDifference(w io.Writer, c *compare.Comparison, violations []compare.Violation) error {
	var figures bytes.Buffer
	if err := difference.WriteJSON(&figures, c, violations); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	s := staticDifference{Headline: difference.Headline(c), Notes: c.Notes}
	for side, runs := range c.Sides {
		s.Sides = append(s.Sides, sideText(side, runs))
	}
	for _, q := range c.Program {
		if q.Change.Sides[compare.Before].Median != 0 || q.Change.Sides[compare.After].Median != 0 {
			s.Program = append(s.Program, changeRow(q.Name, q.Unit, q.Change, q.Significant))
		}
	}
	for _, r := range c.Regions[:min(len(c.Regions), mostStaticRegions)] {
		row := changeRow(compare.Title(r.Any()), "ns", r.Change(compare.OwnT), r.Changed())
		switch {
		case r.New():
			row.Only = "new"
		case r.Gone():
			row.Only = "gone"
		}
		s.Regions = append(s.Regions, row)
	}
	for _, v := range violations {
		s.Violations = append(s.Violations, v.Sentence)
	}
	out := &Difference{Version: Version, Kind: "difference", Figures: figures.Bytes()}
	return write(w, s.Headline, out, &static{Difference: &s})
}

// staticDifference is what a browser without scripts shows of a comparison.
type staticDifference struct {
	Headline         string
	Sides            []string
	Program, Regions []staticChange
	Violations       []string
	Notes            []string
}

type staticChange struct {
	Name, Only         string // Only: "new", "gone", or empty
	A, B, Delta, Ratio string
	P                  string // empty: too few repeats
	Significant        bool
}

func changeRow(name, unit string, x compare.Change, significant bool) staticChange {
	amount := func(v float64) string {
		if unit == "ns" {
			return seconds(int64(v))
		}
		return compare.Amount(v, unit)
	}
	out := staticChange{Name: name, A: amount(x.Sides[compare.Before].Median), B: amount(x.Sides[compare.After].Median),
		Delta: amount(x.Delta()), Significant: significant}
	if x.Delta() > 0 {
		out.Delta = "+" + out.Delta
	}
	if r := x.Ratio(); !math.IsInf(r, 0) {
		out.Ratio = fmt.Sprintf("%+.1f %%", 100*r)
	}
	if x.Tested {
		if out.P = fmt.Sprintf("%.3f", x.P); x.P < 0.001 {
			out.P = "< 0.001"
		}
	}
	return out
}

func sideText(side int, runs []compare.Run) string {
	names := []string{}
	for _, r := range runs {
		names = append(names, clean(r.Name))
	}
	const few = 4
	if more := len(names) - few; more > 0 {
		names = append(names[:few], fmt.Sprintf("%d more", more))
	}
	text := string("AB"[side]) + ": "
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text + " (" + compare.Width(runs[0].Job) + ")"
}
