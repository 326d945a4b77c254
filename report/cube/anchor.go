package cube

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// The types below are the elements of anchor.xml.
type (
	xmlCube struct {
		XMLName xml.Name    `xml:"cube"`
		Version string      `xml:"version,attr"`
		Attrs   []xmlAttr   `xml:"attr"`
		Metrics []xmlMetric `xml:"metrics>metric"`
		Program xmlProgram  `xml:"program"`
		System  xmlNode     `xml:"system>systemtreenode"`
	}
	xmlAttr struct {
		Key   string `xml:"key,attr"`
		Value string `xml:"value,attr"`
	}
	xmlMetric struct {
		ID       int         `xml:"id,attr"`
		Kind     string      `xml:"type,attr"`
		Title    string      `xml:"disp_name"`
		Name     string      `xml:"uniq_name"`
		Type     string      `xml:"dtype"`
		Unit     string      `xml:"uom"`
		URL      string      `xml:"url"`
		Text     string      `xml:"descr"`
		Children []xmlMetric `xml:"metric"`
	}
	xmlProgram struct {
		Regions []xmlRegion `xml:"region"`
		Paths   xmlPath     `xml:"cnode"`
	}
	xmlRegion struct {
		ID       int    `xml:"id,attr"`
		Module   string `xml:"mod,attr"`
		Begin    int    `xml:"begin,attr"`
		End      int    `xml:"end,attr"`
		Name     string `xml:"name"`
		Mangled  string `xml:"mangled_name"`
		Paradigm string `xml:"paradigm"`
		Role     string `xml:"role"`
		URL      string `xml:"url"`
		Text     string `xml:"descr"`
	}
	xmlPath struct {
		ID       int       `xml:"id,attr"`
		Region   int       `xml:"calleeId,attr"`
		Children []xmlPath `xml:"cnode"`
	}
	xmlNode struct {
		ID       int        `xml:"Id,attr"`
		Name     string     `xml:"name"`
		Class    string     `xml:"class"`
		Children []xmlNode  `xml:"systemtreenode"`
		Groups   []xmlGroup `xml:"locationgroup"`
	}
	xmlGroup struct {
		ID      int           `xml:"Id,attr"`
		Name    string        `xml:"name"`
		Rank    int           `xml:"rank"`
		Type    string        `xml:"type"`
		Threads []xmlLocation `xml:"location"`
	}
	xmlLocation struct {
		ID   int    `xml:"Id,attr"`
		Name string `xml:"name"`
		Rank int    `xml:"rank"`
		Type string `xml:"type"`
	}
)

// anchor describes metrics, program and machine.
func (o *order) anchor(metrics []int) ([]byte, error) {
	c := o.Cube
	root := xmlCube{Version: "4.4", Attrs: []xmlAttr{{"Creator", "ompp-attach"}, {"CUBE_CT_AGGR", "SUM"}, {"program", clean(c.Program)}},
		Metrics: metricTree(c, metrics, -1), Program: o.program(), System: o.machine()}
	if why := c.WhyUntold(); why != "" {
		root.Attrs = append(root.Attrs, xmlAttr{"times", clean(why)})
	}
	text, err := xml.MarshalIndent(&root, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write cube: %w", err)
	}
	for _, x := range dialect {
		text = bytes.ReplaceAll(text, []byte(x[0]), []byte(x[1]))
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}

// dialect holds the forms that CubeLib's own parser (4.8, Cube4Parser.yy) takes in place of package
// xml's. The parser knows the names of characters, not their numbers, and an attr has no end tag.
var dialect = [][2]string{{"&#39;", "&apos;"}, {"&#34;", "&quot;"}, {"></attr>", "/>"}}

// clean makes a name harmless; package xml escapes the rest.
func clean(s string) string { return words.Clean(s) }

func metricTree(c *severity.Cube, metrics []int, above int) (out []xmlMetric) {
	for i, property := range metrics {
		if c.Above(property) != above {
			continue
		}
		p := &c.Properties[property]
		m := xmlMetric{ID: i, Kind: "EXCLUSIVE", Title: clean(p.Name), Name: clean(p.ID), Type: "INT64", Unit: string(p.Unit),
			Text: clean(p.Description), Children: metricTree(c, metrics, property)}
		if p.OmpP != "" {
			m.Text = p.OmpP + ": " + m.Text
		}
		if p.Unit == severity.Seconds {
			m.Type = "DOUBLE"
		}
		if p.Helps != "" {
			m.Text += " Look at: " + p.Diagnosis + " What helps: " + p.Helps
		}
		out = append(out, m)
	}
	return out
}

// program describes regions and call paths. Region 0 is the program.
func (o *order) program() (out xmlProgram) {
	c := o.Cube
	name := clean(c.Program)
	if name == "" {
		name = "program"
	}
	out.Regions = append(out.Regions, xmlRegion{ID: 0, Module: name, Begin: -1, End: -1, Name: name, Mangled: name, Paradigm: "user", Role: "artificial"})
	for i := range c.Regions {
		r := &c.Regions[i]
		l := &r.Location
		x := xmlRegion{ID: i + 1, Module: clean(l.File), Begin: -1, End: -1, Name: title(c, i), Mangled: fmt.Sprintf("R%05d", i+1),
			Paradigm: "openmp", Role: role(r.Construct), Text: words.Region(r)}
		if x.Module == "" {
			x.Module = clean(l.Object)
		}
		if l.Begin > 0 {
			x.Begin, x.End = l.Begin, max(l.Begin, l.End)
		}
		switch r.Construct {
		case event.MPI:
			x.Paradigm, x.Role = "mpi", "function"
		case event.UserRegion:
			x.Paradigm, x.Role = "user", "region"
		}
		out.Regions = append(out.Regions, x)
	}
	var tree func(int) xmlPath
	tree = func(i int) xmlPath {
		x := xmlPath{ID: o.path[i], Region: c.Paths[i].Region + 1}
		for _, k := range o.kids[i] {
			x.Children = append(x.Children, tree(k))
		}
		return x
	}
	out.Paths = tree(0)
	return out
}

// title is a region's name as Cube's tools write those of OpenMP: `!$omp parallel @main.c:53`.
func title(c *severity.Cube, region int) string {
	r := &c.Regions[region]
	l := &r.Location
	what := "!$omp " + strings.ToLower(r.Construct.String())
	switch {
	case r.Construct == event.MPI || r.Construct == event.UserRegion:
		what = clean(r.Name)
	case r.Name != "" && r.Name != l.Function:
		what += " " + clean(r.Name)
	}
	if l.File != "" && l.Begin > 0 {
		return fmt.Sprintf("%s @%s:%d", what, clean(path.Base(l.File)), l.Begin)
	}
	return what + " @" + words.Location(l)
}

// role is Cube's word for a construct; "unknown" where it has none.
func role(c event.Construct) string {
	roles := map[event.Construct]string{event.Parallel: "parallel", event.Loop: "loop", event.Sections: "sections", event.Single: "single",
		event.Workshare: "workshare", event.Master: "master", event.Masked: "master", event.Critical: "critical", event.Ordered: "ordered",
		event.Barrier: "barrier", event.Atomic: "atomic", event.Flush: "flush", event.Task: "task create", event.UntiedTask: "task create",
		event.TaskExec: "task", event.UntiedTaskExec: "task", event.TaskWait: "taskwait"}
	if r, ok := roles[c]; ok {
		return r
	}
	if c.IsParallel() {
		return "parallel"
	}
	return "unknown"
}

// machine describes hosts, processes and threads.
func (o *order) machine() xmlNode {
	c := o.Cube
	root := xmlNode{ID: 0, Name: "machine", Class: "machine"}
	if c.Level == severity.Whole {
		root.Children = []xmlNode{{ID: 1, Name: "all hosts", Class: "node", Groups: []xmlGroup{{Name: "all processes", Type: "process",
			Threads: []xmlLocation{{Name: "all threads", Type: "thread"}}}}}}
		return root
	}
	for n, name := range o.hosts {
		root.Children = append(root.Children, xmlNode{ID: n + 1, Name: host(name), Class: "node"})
	}
	for i := range c.Processes {
		p := &c.Processes[i]
		n := slices.Index(o.hosts, p.Host)
		g := xmlGroup{ID: i, Name: fmt.Sprintf("process %d", p.PID), Rank: i, Type: "process"}
		if p.Rank >= 0 {
			g.Name, g.Rank = fmt.Sprintf("MPI Rank %d", p.Rank), p.Rank
		}
		for k := range c.Threads {
			if t := &c.Threads[k]; t.Process == i {
				name := "all threads"
				if c.Level == severity.ByThread {
					name = "OMP thread " + words.Thread(t.Thread)
				}
				g.Threads = append(g.Threads, xmlLocation{ID: o.thread[k], Name: name, Rank: len(g.Threads), Type: "thread"})
			}
		}
		root.Children[n].Groups = append(root.Children[n].Groups, g)
	}
	return root
}

func host(name string) string {
	if name == "" {
		return "unknown host"
	}
	return clean(name)
}
