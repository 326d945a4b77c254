package cube

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/severity"
)

// read is a reader of Cube's format, written from its description only: values by metric, call path
// and location.
func read(t *testing.T, content []byte) (root xmlCube, values map[string]float64) {
	t.Helper()
	files := map[string][]byte{}
	for in := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := xml.Unmarshal(files["anchor.xml"], &root); err != nil {
		t.Fatalf("%v\n%s", err, files["anchor.xml"])
	}
	locations := 0
	for _, node := range root.System.Children {
		for _, g := range node.Groups {
			for _, l := range g.Threads {
				if l.ID != locations {
					t.Errorf("location %d is the %dth", l.ID, locations)
				}
				locations++
			}
		}
	}
	next := 0
	var number func(xmlPath)
	number = func(p xmlPath) {
		if p.ID != next {
			t.Errorf("path %d is the %dth, depth first", p.ID, next)
		}
		next++
		for _, k := range p.Children {
			number(k)
		}
	}
	number(root.Program.Paths)
	values = map[string]float64{}
	var metric func(xmlMetric)
	metric = func(m xmlMetric) {
		rest, ok := bytes.CutPrefix(files[fmt.Sprintf("%d.index", m.ID)], []byte("CUBEX.INDEX\x01\x00\x00\x00\x00\x00\x01"))
		if !ok {
			t.Fatalf("the index of %s has another head", m.Name)
		}
		n := int(binary.LittleEndian.Uint32(rest))
		cells, ok := bytes.CutPrefix(files[fmt.Sprintf("%d.data", m.ID)], []byte("CUBEX.DATA"))
		if rest = rest[4:]; !ok || len(rest) != 4*n || len(cells) != 8*n*locations {
			t.Fatalf("%s: %d rows of %d locations, in %d and %d bytes", m.Name, n, locations, len(rest), len(cells))
		}
		for i := range n * locations {
			word := binary.LittleEndian.Uint64(cells[8*i:])
			v := float64(int64(word))
			if m.Type == "DOUBLE" {
				v = math.Float64frombits(word)
			}
			if v != 0 {
				values[fmt.Sprintf("%s %d %d", m.Name, binary.LittleEndian.Uint32(rest[4*(i/locations):]), i%locations)] = v
			}
		}
		for _, k := range m.Children {
			metric(k)
		}
	}
	for _, m := range root.Metrics {
		metric(m)
	}
	return root, values
}

// twoHosts has ranks whose hosts alternate, and paths that are not numbered depth first.
func twoHosts() *severity.Cube {
	p := &profile.Profile{Meta: profile.Meta{Target: profile.Target{Program: "<&\"'>\xff\x1b"}, Life: profile.Life{Duration: 10e9}}, Threads: []profile.Thread{{}, {Num: 1}},
		Regions: []profile.Region{
			{Construct: event.Parallel, Location: profile.Location{File: "/src/a<b>.c", Begin: 3, End: 9}},
			{Construct: event.Critical, Name: "q\"&\x00", Location: profile.Location{Function: "f<int>", Object: "a.so", Offset: 16}},
			{Construct: event.MPI, Name: "MPI_Send", Location: profile.Location{File: "/src/a.c", Begin: 30}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0}, {Parent: 0, Region: 2}, {Parent: 1, Region: 1}}}
	span := func(s int64, c uint64) profile.Sum { return profile.Sum{T: s * 1e9, C: c} }
	p.Nodes[1].Stats = []profile.ThreadStats{{Exec: span(4, 1), Body: span(4, 1)}, {Thread: 1, Exec: span(4, 1), Body: span(3, 1), Barrier: span(1, 1), Child: 2e9}}
	p.Nodes[2].Stats = []profile.ThreadStats{{Exec: span(1, 3), MPI: &profile.MPIStats{T: 1e9, Calls: 3, Sends: 3}}}
	p.Nodes[3].Stats = []profile.ThreadStats{{Thread: 1, Exec: span(2, 7), Enter: span(1, 7), Body: span(1, 7)}}
	one := severity.Of(p, severity.Options{})
	s := severity.NewSum(severity.MostValues)
	for rank, host := range []string{"a", "b", "a"} {
		c := *one
		c.Processes = []severity.Process{{Rank: rank, Host: host, PID: 100 + rank}}
		s.Add(&c, []int{0, 1, 2})
	}
	c := s.Finish(p.Regions, []int{0, 1, 2})
	c.Paths[2], c.Paths[3] = c.Paths[3], c.Paths[2] // as in the profile
	for i := range c.Values {
		if v := &c.Values[i]; v.Path >= 2 {
			v.Path = 5 - v.Path
		}
	}
	return c
}

// TestRead: all values of the cube are in the file, each with those of the properties below it.
func TestRead(t *testing.T) {
	for name, c := range map[string]*severity.Cube{"two hosts": twoHosts(), "mixed": severity.Of(reporttest.MixedProfile(), severity.Options{})} {
		var out bytes.Buffer
		if err := Write(&out, c); err != nil {
			t.Fatal(err)
		}
		o := orderOf(c)
		want := map[string]float64{}
		for i := range c.Properties {
			for _, v := range c.Inclusive(i) {
				x := float64(v.V)
				if c.Properties[i].Unit == severity.Seconds {
					x /= 1e9
				}
				want[fmt.Sprintf("%s %d %d", c.Properties[i].ID, o.path[v.Path], o.thread[v.Thread])] = x
			}
		}
		root, got := read(t, out.Bytes())
		if d := cmp.Diff(want, got); d != "" || len(got) == 0 {
			t.Errorf("%s: values (-want +got):\n%s", name, d)
		}
		if name == "mixed" {
			continue
		}
		// Rank 2 is on the host of rank 0, and thread 1 of it is the fourth location.
		if g := root.System.Children[0].Groups; len(root.System.Children) != 2 || len(g) != 2 || g[1].Rank != 2 || g[1].Threads[1].ID != 3 {
			t.Errorf("the machine is %+v", root.System)
		}
		// The critical is the third path depth first, and the sixth location is thread 1 of rank 1.
		if got["omp_critical 2 5"] != 1 || got["mpi_sends 3 4"] != 3 || got["time 0 0"] != 5 {
			t.Errorf("values are at other places: %v", got)
		}
	}
}

// TestHiddenTimes: the file says that nothing can be told of the times.
func TestHiddenTimes(t *testing.T) {
	c := twoHosts()
	c.Silent = true
	var out bytes.Buffer
	if err := Write(&out, c); err != nil {
		t.Fatal(err)
	}
	root, _ := read(t, out.Bytes())
	if last := root.Attrs[len(root.Attrs)-1]; last.Key != "times" || last.Value != "What costs time "+c.CannotTell() {
		t.Errorf("attributes %q", root.Attrs)
	}
}

func TestGolden(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, twoHosts()); err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(&out)
	var anchor []byte
	for {
		h, err := in.Next()
		if err != nil {
			break
		}
		if anchor, err = io.ReadAll(in); err != nil || strings.ContainsAny(h.Name, "/\\") {
			t.Fatalf("%s: %v", h.Name, err)
		}
	}
	// What properties mean is docs/properties.md's.
	var lines []string
	for line := range strings.Lines(string(anchor)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "<descr>"); !ok || len(text) < 60 {
			lines = append(lines, line)
		}
	}
	reporttest.Golden(t, "two-hosts.anchor.golden", []byte(strings.Join(lines, "")))
}

// counter counts what is written.
type counter int64

func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}

// TestMemory: the memory does not grow with the cells of the file, but with its values.
func TestMemory(t *testing.T) {
	c := severity.Of(reporttest.MixedProfile(), severity.Options{})
	for i := range 5000 {
		c.Threads = append(c.Threads, severity.Thread{Thread: profile.Thread{Num: i}})
	}
	for range 300 {
		c.Values = append(c.Values, severity.Value{Property: c.Property(severity.Computation), Path: len(c.Paths), V: 1})
		c.Paths = append(c.Paths, severity.Path{})
	}
	slices.SortFunc(c.Values, func(a, b severity.Value) int {
		return slices.Compare([]int{a.Property, a.Path, a.Thread}, []int{b.Property, b.Path, b.Thread})
	})
	if cells(c) > mostCells {
		t.Fatalf("%d cells are too many", cells(c))
	}
	var before, after runtime.MemStats
	var size counter
	runtime.ReadMemStats(&before)
	if err := Write(&size, c); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; size < 8<<20 || took > uint64(size)/2 {
		t.Errorf("%d bytes were allocated for a file of %d with %d values", took, size, len(c.Values))
	}
}

// TestManyCells: a run of very many locations is written by processes.
func TestManyCells(t *testing.T) {
	p := reporttest.MixedProfile()
	for len(p.Nodes) < 2000 {
		n := p.Nodes[1]
		n.Parent = len(p.Nodes) - 1
		p.Nodes = append(p.Nodes, n)
	}
	for len(p.Threads) < 10_000 {
		p.Threads = append(p.Threads, profile.Thread{Num: len(p.Threads)})
	}
	c := severity.Of(p, severity.Options{})
	if cells(c) <= mostCells {
		t.Fatalf("only %d cells", cells(c))
	}
	var out bytes.Buffer
	if err := Write(&out, c); err != nil {
		t.Fatal(err)
	}
	root, got := read(t, out.Bytes())
	var sum float64
	for k, v := range got {
		if strings.HasPrefix(k, "time ") {
			sum += v
		}
	}
	if want := float64(c.Total(severity.Time)) / 1e9; math.Abs(sum-want) > 1e-6*want || len(root.System.Children[0].Groups[0].Threads) != 1 {
		t.Errorf("%g s of %g s", sum, want)
	}
}
