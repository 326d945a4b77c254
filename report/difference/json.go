package difference

import (
	"encoding/json"
	"io"
	"math"

	"ompp-attach/compare"
	"ompp-attach/profile"
)

// Version grows when a reader of the older version would misread the newer.
const Version = 1

// The types below are docs/diff.md's.
type (
	comparisonJSON struct {
		Version    int             `json:"version"`
		Alpha      float64         `json:"alpha"`
		Tests      int             `json:"tests"`
		Repeats    int             `json:"repeats_needed"`
		Headline   string          `json:"headline"`
		Findings   []findingJSON   `json:"findings"`
		Tested     string          `json:"tested,omitempty"` // what the level of significance means
		Accounting string          `json:"accounting"`
		Sides      [2]sideJSON     `json:"sides"`
		Program    []quantityJSON  `json:"program"`
		Regions    []regionJSON    `json:"regions"`
		Paths      []pathJSON      `json:"paths"`
		PathsMore  int             `json:"paths_more"` // that are left out
		Notes      []string        `json:"notes"`
		Violations []violationJSON `json:"violations"`
	}
	sideJSON struct {
		Runs []runJSON `json:"runs"`
	}
	runJSON struct {
		Name     string   `json:"name"`
		Programs []string `json:"programs"`
		Ranks    int      `json:"ranks"`
		Width    string   `json:"width"`
	}
	changeJSON struct {
		A     summaryJSON `json:"a"`
		B     summaryJSON `json:"b"`
		Delta float64     `json:"delta"`
		Ratio *float64    `json:"ratio"` // null: the earlier value is 0
		P     *float64    `json:"p"`     // null: too few repeats
	}
	summaryJSON struct {
		Values     []float64 `json:"values"`
		Median     float64   `json:"median"`
		Lo         *float64  `json:"lo"` // null: too few repeats
		Hi         *float64  `json:"hi"`
		Confidence float64   `json:"confidence"`
	}
	quantityJSON struct {
		Name        string `json:"name"`
		Unit        string `json:"unit"`
		Significant bool   `json:"significant"`
		changeJSON
	}
	regionJSON struct {
		Title       string                `json:"title"`
		Construct   string                `json:"construct"`
		Name        string                `json:"name,omitempty"`
		A           *profile.Location     `json:"a"`
		B           *profile.Location     `json:"b"`
		Moved       bool                  `json:"moved"`
		Share       float64               `json:"share"`
		Tested      bool                  `json:"tested"`
		Significant []string              `json:"significant"` // figures
		Figures     map[string]changeJSON `json:"figures"`
		Counters    map[string]changeJSON `json:"counters,omitempty"`
	}
	findingJSON struct {
		Region int    `json:"region"` // index in regions; -1: the program
		Says   string `json:"says"`
	}
	pathJSON struct {
		Parent    int        `json:"parent"` // index in paths; -1: the program itself
		Region    int        `json:"region"` // index in regions; -1: the program
		Own       changeJSON `json:"own"`
		Inclusive changeJSON `json:"inclusive"`
	}
	violationJSON struct {
		Condition string `json:"condition"`
		Region    string `json:"region,omitempty"`
		Sentence  string `json:"sentence"`
		changeJSON
	}
)

// WriteJSON writes a comparison for programs: all regions with all figures that are not 0.
func WriteJSON(w io.Writer, c *compare.Comparison, violations []compare.Violation) error {
	out := comparisonJSON{Version: Version, Alpha: c.Alpha, Tests: c.Tests, Repeats: c.Repeats, Accounting: c.Volumes.String(),
		Headline: Headline(c), Findings: []findingJSON{},
		Notes: append([]string{}, c.Notes...), Regions: []regionJSON{}, Violations: []violationJSON{}}
	if c.Repeated() {
		out.Tested = testedText(c)
	}
	number := map[*compare.Region]int{nil: -1}
	for i, r := range c.Regions {
		number[r] = i
	}
	for _, f := range findings(c) {
		out.Findings = append(out.Findings, findingJSON{number[f.region], f.says})
	}
	out.Paths, out.PathsMore = pathsOf(c, number)
	for side, runs := range c.Sides {
		for _, run := range runs {
			r := runJSON{Name: run.Name, Ranks: len(run.Job.Ranks), Width: compare.Width(run.Job), Programs: programs(run)}
			out.Sides[side].Runs = append(out.Sides[side].Runs, r)
		}
	}
	for _, q := range c.Program {
		out.Program = append(out.Program, quantityJSON{q.Name, q.Unit, q.Significant, changeOf(q.Change)})
	}
	for _, r := range c.Regions {
		g := regionJSON{Title: compare.Title(r.Any()), Construct: r.Any().Construct.String(), Name: r.Any().Name, Moved: r.Moved(), Share: r.Share,
			Tested: r.Tested, Significant: []string{}, Figures: map[string]changeJSON{}}
		if at := r.At[compare.Before]; at != nil {
			g.A = &at.Location
		}
		if at := r.At[compare.After]; at != nil {
			g.B = &at.Location
		}
		for f := range compare.NumFigures {
			if x := r.Change(f); f == compare.OwnT || f == compare.InclusiveT || !zero(x) {
				g.Figures[f.String()] = changeOf(x)
			}
			if r.Significant(f) {
				g.Significant = append(g.Significant, f.String())
			}
		}
		for _, name := range r.Counters() {
			if g.Counters == nil {
				g.Counters = map[string]changeJSON{}
			}
			g.Counters[name] = changeOf(r.Counter(name))
		}
		out.Regions = append(out.Regions, g)
	}
	for _, v := range violations {
		x := violationJSON{Condition: v.Condition.Text, Sentence: v.Sentence, changeJSON: changeOf(v.Change)}
		if v.Region != nil {
			x.Region = compare.Title(v.Region.Any())
		}
		out.Violations = append(out.Violations, x)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func programs(run compare.Run) (names []string) {
	seen := map[string]bool{}
	for i := range run.Job.Ranks {
		if name := run.Job.Ranks[i].Program; !seen[name] {
			seen[name] = true
			names = append(names, profile.Pasteable(name))
		}
	}
	return names
}

func zero(x compare.Change) bool {
	for _, s := range x.Sides {
		for _, v := range s.Values {
			if v != 0 {
				return false
			}
		}
	}
	return true
}

func changeOf(x compare.Change) changeJSON {
	out := changeJSON{A: summaryOf(x.Sides[compare.Before]), B: summaryOf(x.Sides[compare.After]), Delta: x.Delta()}
	if r := x.Ratio(); !math.IsInf(r, 0) {
		out.Ratio = &r
	}
	if x.Tested {
		out.P = &x.P
	}
	return out
}

func summaryOf(s compare.Summary) summaryJSON {
	out := summaryJSON{Values: append([]float64{}, s.Values...), Median: s.Median, Confidence: s.Confidence}
	if s.Confidence > 0 {
		out.Lo, out.Hi = &s.Lo, &s.Hi
	}
	return out
}
