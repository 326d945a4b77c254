package tables

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// little is the share of all threads' time below which text leaves rows out and counts them.
const little = 0.001

// Formats are the names of the formats, the default first.
var Formats = []string{"text", "csv", "json"}

// Write writes the table of a profile that is added up in one way, in one of Formats.
func Write(w io.Writer, p *profile.Profile, by By, format string, o Options) error {
	v := newView(p, &o)
	v.single = format != Formats[0]
	t := by.table(v)
	t.by = by.Name
	t.tell(v)
	switch format {
	case "csv":
		return t.csv(w)
	case "json":
		return t.json(w, &o, p)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", t.intro)
	if t.why != "" {
		fmt.Fprintf(out, "%s\n\n", t.why)
	}
	for _, line := range t.text(&o) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// tell notes whether times can be told.
func (t *table) tell(v *view) {
	if t.untold, t.why = analysis.Untold(v.Hidden, analysis.Silent(v.p)); t.why != "" {
		t.why = "What costs time " + t.why
	}
}

// Text returns the lines of a table without its introduction.
func Text(p *profile.Profile, by By, o Options) []string { return by.table(newView(p, &o)).text(&o) }

// shown returns the columns of the text: those with a title, unless all of their values are 0.
func (t *table) shown() (out []int) {
	for i, c := range t.columns {
		holds := c.always || c.kind == text
		for _, r := range t.rows {
			switch v := r.values[i].(type) {
			case int64:
				holds = holds || v != 0
			case uint64:
				holds = holds || v != 0
			case float64:
				holds = holds || v != 0
			}
		}
		if c.title != "" && holds {
			out = append(out, i)
		}
	}
	return out
}

func (t *table) text(o *Options) (lines []string) {
	columns := t.shown()
	head := make([]string, len(columns))
	for k, i := range columns {
		head[k] = t.columns[i].title
	}
	cells, left, rest := [][]string{head}, 0, int64(0)
	for n := range t.rows {
		r := &t.rows[n]
		few := float64(r.time) < little*float64(t.whole) && !o.All && len(t.rows) > 1
		if few || o.Rows > 0 && n >= o.Rows {
			left++
			rest += r.time
			continue
		}
		line := make([]string, len(columns))
		for k, i := range columns {
			line[k] = t.cell(o, r, i)
		}
		cells = append(cells, line)
	}
	widths := make([]int, len(columns))
	for _, line := range cells {
		for k, cell := range line {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range cells {
		var b strings.Builder
		for k, cell := range line {
			pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			if k > 0 {
				b.WriteString("  ")
			}
			if t.columns[columns[k]].kind == text {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more, %s sec together", left, o.Seconds(rest)))
	}
	return lines
}

// cell is a value in text; - stands for a figure that does not exist.
func (t *table) cell(o *Options, r *row, i int) string {
	c := &t.columns[i]
	mark := o.Mark
	if c.own {
		mark = o.MarkOwn
	}
	switch v := r.values[i].(type) {
	case string:
		return v
	case uint64:
		return mark(fmt.Sprint(v), r.estimate)
	case int64:
		return mark(o.Seconds(v), r.estimate)
	case float64:
		if c.kind == each {
			return mark(strconv.FormatFloat(v/1e3, 'f', 2, 64), r.estimate)
		}
		return mark(strconv.FormatFloat(100*v, 'f', 2, 64), r.estimate)
	}
	return "-"
}

// named returns the columns of the formats that programs read.
func (t *table) named() (out []int) {
	for i, c := range t.columns {
		if c.name != "" {
			out = append(out, i)
		}
	}
	return out
}

func (t *table) csv(w io.Writer) error {
	out, columns := csv.NewWriter(w), t.named()
	out.UseCRLF = true // RFC 4180, 2.1
	var head []string
	for _, i := range columns {
		head = append(head, t.columns[i].name)
	}
	if err := out.Write(append(head, "estimated", "untold")); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	for n := range t.rows {
		var cells []string
		for _, i := range columns {
			cells = append(cells, csvCell(t.rows[n].values[i]))
		}
		if err := out.Write(append(cells, estimated(t.rows[n].estimate), t.untold)); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

// csvCell writes a value; empty: there is no such figure.
func csvCell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// estimated says, for programs, what is estimated in a row: nothing, a part, or the figures are the
// least.
func estimated(e *profile.Estimate) string {
	switch {
	case e == nil:
		return ""
	case e.AtLeast:
		return "at_least"
	case e.Exec.C > 0 || e.Child != 0 || e.Inside:
		return "in_part"
	}
	return ""
}

// version grows when a reader of the old version would misread the new one.
const version = 1

func (t *table) json(w io.Writer, o *Options, p *profile.Profile) error {
	columns, rows := t.named(), []map[string]any{}
	for n := range t.rows {
		r := map[string]any{}
		for _, i := range columns {
			if v := t.rows[n].values[i]; v != nil {
				r[t.columns[i].name] = v
			}
		}
		if e := estimated(t.rows[n].estimate); e != "" {
			r["estimated"] = e
		}
		if t.untold != "" {
			r["untold"] = t.untold
		}
		rows = append(rows, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(struct {
		Version    int              `json:"version"`
		By         string           `json:"by"`
		Program    string           `json:"program"`
		ThreadTime int64            `json:"thread_time_ns"`
		CannotTell string           `json:"cannot_tell,omitempty"`
		Rows       []map[string]any `json:"rows"`
	}{version, t.by, o.Clean(p.Meta.Program), t.whole, t.why, rows}); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
