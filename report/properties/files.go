package properties

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"ompp-attach/analysis"
	"ompp-attach/severity"
)

// writeCSV writes a line for each value.
func writeCSV(w io.Writer, c *severity.Cube, o Options) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180, 2.1
	lines := [][]string{{"property", "name", "unit", "path", "region", "construct", "place_name", "file", "begin_line", "end_line",
		"function", "host", "rank", "pid", "initial_thread", "thread", "value", "estimated", "untold"}}
	for _, v := range c.Values {
		p := &c.Properties[v.Property]
		line := []string{o.Clean(p.ID), o.Clean(p.Title()), unit(p), pathNumbers(c, v.Path)}
		line = append(line, place(c, v.Path, o)...)
		line = append(line, location(c, v.Thread, o)...)
		estimated := ""
		switch {
		case v.Mark&severity.Estimated != 0:
			estimated = "in_part"
		case v.Mark&severity.Derived != 0:
			estimated = "derived"
		}
		lines = append(lines, append(line, strconv.FormatInt(v.V, 10), estimated, c.Untold(v.Property)))
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

// unit names the unit of the values in files.
func unit(p *severity.Property) string {
	if p.Unit == severity.Seconds {
		return "ns"
	}
	return string(p.Unit)
}

func place(c *severity.Cube, path int, o Options) []string {
	region := c.Paths[path].Region
	if region < 0 {
		return []string{"", "", Outside, "", "", "", ""}
	}
	r := &c.Regions[region]
	l := &r.Location
	return []string{strconv.Itoa(region + 1), r.Construct.String(), o.Clean(r.Name), o.Clean(l.File), positive(l.Begin), positive(l.End), o.Clean(l.Function)}
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func location(c *severity.Cube, thread int, o Options) []string {
	t := &c.Threads[thread]
	if t.Process < 0 {
		return make([]string, 5)
	}
	p := &c.Processes[t.Process]
	rank := ""
	if p.Rank >= 0 {
		rank = strconv.Itoa(p.Rank)
	}
	if c.Level != severity.ByThread {
		return []string{o.Clean(p.Host), rank, strconv.Itoa(p.PID), "", ""}
	}
	return []string{o.Clean(p.Host), rank, strconv.Itoa(p.PID), strconv.Itoa(t.Root), ThreadText(c, thread)}
}

// version grows when a reader of the old version would misread the new one.
const version = 1

// The types below are those of the JSON format. docs/properties.md describes them.
type (
	file struct {
		Version    int        `json:"version"`
		Program    string     `json:"program"`
		ThreadTime int64      `json:"thread_time_ns"`
		Adjusted   bool       `json:"adjusted"`
		Level      string     `json:"level"`
		Properties []property `json:"properties"`
		Paths      []path     `json:"paths"`
		Processes  []process  `json:"processes"`
		Threads    []thread   `json:"threads"`
		// CannotTell says why no times can be told but the time without a core. Then findings are
		// of that time alone.
		CannotTell string    `json:"cannot_tell,omitempty"`
		Findings   []finding `json:"findings"`
		// Late lists the ranks for which others waited in MPI calls.
		Late  []late `json:"late_ranks,omitempty"`
		Nodes *nodes `json:"nodes,omitempty"`
		// JobPath is the critical path over the ranks; absent: not known.
		JobPath *jobPath `json:"job_path,omitempty"`
		Notes   []string `json:"notes,omitempty"`
		// Values are quadruples: property, path, thread, value.
		Values [][4]int64 `json:"values"`
	}
	property struct {
		ID          string `json:"id"`
		Parent      string `json:"parent,omitempty"`
		Name        string `json:"name"`
		OmpP        string `json:"ompp,omitempty"`
		Unit        string `json:"unit"`
		Inclusive   int64  `json:"inclusive"`
		Description string `json:"description"`
		Formula     string `json:"formula"`
		Diagnosis   string `json:"diagnosis,omitempty"`
		Helps       string `json:"helps,omitempty"`
		Source      string `json:"source"`
	}
	path struct {
		Parent    int    `json:"parent"`
		Region    int    `json:"region,omitempty"` // R00001 is 1; 0: the program
		Text      string `json:"text"`
		Construct string `json:"construct,omitempty"`
		File      string `json:"file,omitempty"`
		Begin     int    `json:"begin_line,omitempty"`
		End       int    `json:"end_line,omitempty"`
		Function  string `json:"function,omitempty"`
	}
	process struct {
		Rank *int   `json:"rank,omitempty"`
		Host string `json:"host"`
		PID  int    `json:"pid"`
		Wall int64  `json:"wall_ns"`
	}
	thread struct {
		Process int    `json:"process"`
		Root    int    `json:"initial_thread"`
		Name    string `json:"name"`
	}
	late struct {
		Property string `json:"property"`
		Path     int    `json:"path"` // of those who waited
		Rank     int    `json:"rank"`
		At       int    `json:"at"`               // path of the late rank
		Thread   *int   `json:"thread,omitempty"` // of the late rank
		Time     int64  `json:"time_ns"`
		Times    uint64 `json:"times"`
		Bound    int64  `json:"bound_ns,omitempty"`
	}
	finding struct {
		Property  string  `json:"property"`
		Name      string  `json:"name"`
		Path      int     `json:"path"`
		Time      int64   `json:"time_ns"`
		Share     float64 `json:"share"`
		Threads   int     `json:"threads"`
		Longest   int     `json:"longest"`
		LongestT  int64   `json:"longest_ns"`
		Saves     *int64  `json:"saves_at_most_ns,omitempty"`
		Saver     *int    `json:"saving_process,omitempty"`
		Doubt     string  `json:"doubt,omitempty"`
		Uneven    string  `json:"uneven,omitempty"` // why threads waited
		Estimated bool    `json:"estimated,omitempty"`
	}
)

var levels = [...]string{severity.ByThread: "thread", severity.ByProcess: "process", severity.Whole: "run"}

var doubts = [...]string{0: "", severity.ByProbes: "probes", severity.ByTasks: "tasks"}

var reasons = [...]string{0: "", analysis.Starved: "no_work", analysis.Coreless: "no_core", analysis.Late: "late", analysis.Behind: "late_to_construct"}

func writeJSON(w io.Writer, c *severity.Cube, o Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(fileOf(c, o)); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

func fileOf(c *severity.Cube, o Options) *file {
	f := &file{Version: version, Program: o.Clean(c.Program), ThreadTime: c.ThreadTime, Adjusted: c.Adjusted, Level: levels[c.Level],
		Findings: []finding{}, Values: [][4]int64{}}
	for i := range c.Properties {
		p := &c.Properties[i]
		f.Properties = append(f.Properties, property{o.Clean(p.ID), p.Parent, o.Clean(p.Name), p.OmpP, unit(p), c.Total(p.ID), o.Clean(p.Description),
			o.Clean(p.Formula), p.Diagnosis, p.Helps, p.Source})
	}
	for i, p := range c.Paths {
		x := path{Parent: p.Parent, Text: PathText(c, i)}
		if p.Region >= 0 {
			r := &c.Regions[p.Region]
			l := &r.Location
			x.Region, x.Construct = p.Region+1, r.Construct.String()
			x.File, x.Begin, x.End, x.Function = o.Clean(l.File), l.Begin, l.End, o.Clean(l.Function)
		}
		f.Paths = append(f.Paths, x)
	}
	for i := range c.Processes {
		p := &c.Processes[i]
		x := process{Host: o.Clean(p.Host), PID: p.PID, Wall: p.Wall}
		if p.Rank >= 0 {
			x.Rank = &p.Rank
		}
		f.Processes = append(f.Processes, x)
	}
	for _, b := range c.Blames {
		x := late{Property: c.Properties[b.Property].ID, Path: b.Path, Rank: b.Rank, At: b.DuePath, Time: b.Time, Times: b.Times, Bound: b.Bound}
		if b.DueThread >= 0 {
			x.Thread = &b.DueThread
		}
		f.Late = append(f.Late, x)
	}
	f.Nodes, f.JobPath = nodesOf(c.Nodes, o), jobPathOf(c)
	for _, s := range c.Notes {
		f.Notes = append(f.Notes, o.Clean(s))
	}
	for i := range c.Threads {
		f.Threads = append(f.Threads, thread{c.Threads[i].Process, c.Threads[i].Root, ThreadText(c, i)})
	}
	f.CannotTell = c.WhyUntold()
	found := c.List(c.Findings(), true)
	for i := range found {
		x := &found[i].Finding
		p := &c.Properties[x.Property]
		y := finding{Property: o.Clean(p.ID), Name: o.Clean(p.Title()), Path: x.Path, Time: x.Time, Share: float64(x.Time) / float64(max(1, c.ThreadTime)),
			Threads: len(x.Threads), Longest: x.Threads[0].Thread, LongestT: x.Threads[0].Time, Doubt: doubts[c.DoubtOf(x)],
			Uneven: reasons[c.UnevenAt(x)], Estimated: x.Estimated}
		if x.Saving.Known {
			y.Saves, y.Saver = &x.Saving.Time, &x.Saving.Process
		}
		f.Findings = append(f.Findings, y)
	}
	for _, v := range c.Values {
		f.Values = append(f.Values, [4]int64{int64(v.Property), int64(v.Path), int64(v.Thread), v.V})
	}
	return f
}
