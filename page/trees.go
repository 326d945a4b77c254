package page

import (
	"fmt"

	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// mostSeverities bounds the severities on a page. If there are more, the severities of each
// process's threads are added up. If these are still more, those of all processes are.
const mostSeverities = 60_000

// Trees are the severities of a run by property, call path and location: three linked trees. A
// parent precedes its children in each.
type Trees struct {
	ThreadTime int64          `json:"thread_ns"` // to which shares of times refer
	Properties []TreeProperty `json:"properties"`
	Paths      []TreePath     `json:"paths"`
	Locations  []TreeLocation `json:"locations"`
	// Values are quadruples: property, path, location, and the exclusive value.
	Values []int64 `json:"values"`
	// Worst is the property and the path that cost most time; absent: none costs time.
	Worst *[2]int `json:"worst,omitempty"`
	// Findings are the worst properties with their call paths, the longest time first.
	Findings []TreeFinding `json:"findings,omitempty"`
	Notes    []string      `json:"notes,omitempty"` // what the values lack
	// Coarse is "process" or "run" if the values are not by thread, but by process or of the run.
	Coarse string `json:"coarse,omitempty"`
}

// TreeProperty is a property with values, or above one.
type TreeProperty struct {
	Parent int    `json:"parent"` // -1: a root
	Name   string `json:"name"`
	OmpP   string `json:"ompp,omitempty"`
	Unit   string `json:"unit"` // "sec" (values are in ns), "occ" (occurrences) or "bytes"
	Text   string `json:"text"`
	Helps  string `json:"helps,omitempty"`
	// Saves and Of are the same as in TreeFinding, for all call paths together.
	Saves *int64 `json:"saves_ns,omitempty"`
	Of    string `json:"of,omitempty"`
}

// TreePath is a call path.
type TreePath struct {
	Parent int `json:"parent"` // -1: the program
	Region int `json:"region"` // number, from 1; 0: the program
}

// TreeLocation is a part of the machine, or a thread.
type TreeLocation struct {
	Parent int    `json:"parent"` // -1: the machine
	Name   string `json:"name"`
}

// treesOf makes the trees of a run, or nil if the run has no time.
func treesOf(c *severity.Cube) *Trees {
	if c == nil || c.ThreadTime <= 0 || len(c.Values) == 0 {
		return nil
	}
	whole := c
	c = c.Coarser(mostSeverities)
	t := &Trees{ThreadTime: c.ThreadTime}
	switch c.Level {
	case severity.ByProcess:
		t.Coarse = "process"
	case severity.Whole:
		t.Coarse = "run"
	}
	number := t.properties(c)
	for _, p := range c.Paths {
		t.Paths = append(t.Paths, TreePath{p.Parent, p.Region + 1})
	}
	location := t.locations(c)
	for _, v := range c.Values {
		t.Values = append(t.Values, int64(number[v.Property]), int64(v.Path), int64(location[v.Thread]), v.V)
	}
	if found := whole.Findings(); len(found) > 0 {
		t.Worst = &[2]int{number[found[0].Property], found[0].Path}
		t.due(whole, found, number)
	}
	for _, s := range c.Notes {
		t.Notes = append(t.Notes, clean(s))
	}
	return t
}

// properties adds the properties with values, and those above these. It returns the index of each
// of the cube's properties in t.Properties.
func (t *Trees) properties(c *severity.Cube) []int {
	holds := make([]bool, len(c.Properties))
	for _, v := range c.Values {
		for p := v.Property; p >= 0 && !holds[p]; p = c.Above(p) {
			holds[p] = true
		}
	}
	number := make([]int, len(c.Properties))
	for i := range c.Properties {
		p := &c.Properties[i]
		if !holds[i] {
			continue
		}
		x := TreeProperty{Parent: -1, Name: clean(p.Name), OmpP: p.OmpP, Unit: string(p.Unit), Text: clean(p.Description), Helps: p.Helps}
		if up := c.Above(i); up >= 0 {
			x.Parent = number[up]
		}
		number[i] = len(t.Properties)
		t.Properties = append(t.Properties, x)
	}
	return number
}

// locations adds machine, nodes, processes and threads. It returns, for each row of the cube, the
// index in t.Locations.
func (t *Trees) locations(c *severity.Cube) []int {
	add := func(parent int, name string) int {
		t.Locations = append(t.Locations, TreeLocation{parent, name})
		return len(t.Locations) - 1
	}
	machine := add(-1, "machine")
	at := make([]int, len(c.Threads))
	if c.Level == severity.Whole {
		return at
	}
	hosts, processes := map[string]int{}, make([]int, len(c.Processes))
	for i := range c.Processes {
		p := &c.Processes[i]
		if _, ok := hosts[p.Host]; !ok {
			name := clean(p.Host)
			if name == "" {
				name = "unknown host"
			}
			hosts[p.Host] = add(machine, name)
		}
	}
	for i := range c.Processes {
		p := &c.Processes[i]
		name := fmt.Sprintf("process %d", p.PID)
		if p.Rank >= 0 {
			name = fmt.Sprintf("rank %d", p.Rank)
		}
		processes[i] = add(hosts[p.Host], name)
	}
	for i := range c.Threads {
		if at[i] = processes[c.Threads[i].Process]; c.Level == severity.ByThread {
			at[i] = add(at[i], "thread "+words.Thread(c.Threads[i].Thread))
		}
	}
	return at
}
