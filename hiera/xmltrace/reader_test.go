package xmltrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ompp-attach/hiera"
)

// snippet is the paper's trace0.xml (section 6), with the blanks that the print lost.
const snippet = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE processor SYSTEM "trace.dtd">
<?xml-stylesheet type="text/xsl" href="visual.xsl"?>
<processor rank="P0" init="0.01229" finalize="1.96906">
<hieraMPI operation="broadcast" file="md.c" line="37" start_time="0.01992" finish_time="0.02001" count="1" type="MPI_INT" root="0" comm="MPI_COMM_WORLD"/>
<hieraMPI operation="receive" file="auxfmd.c" line="51" start_time="0.02540" finish_time="0.02542" count="1" type="MPI_INT" rem="1" tag="0" comm="MPI_COMM_WORLD"/>
<hieraMPI operation="send" file="auxfmd.c" line="58" start_time="0.02645" finish_time="0.02649" count="1536" type="MPI_FLOAT" dest="1" tag="1" comm="MPI_COMM_WORLD"/>
<hieraMPI operation="type_contiguous" file="md.c" line="92" start_time="0.04312" finish_time="0.04313" count="3" oldtype="MPI_FLOAT" newtype="P6_dtype"/>
<hieraMPI operation="type_commit" file="md.c" line="93" start_time="0.04316" finish_time="0.04316" type="P6_dtype"/>
<hieraMPI operation="scan" file="md.c" line="95" start_time="0.04319" finish_time="0.04321" count="1" type="MPI_INT" op="MPI_SUM" comm="MPI_COMM_WORLD"/>
<hieraMPI operation="allgatherv" file="md.c" line="137" start_time="0.05551" finish_time="0.05568" scount="512" stype="MPI_INT" rcount="512" rtype="MPI_INT" comm="P5_comm"/>
<hieraMPI operation="reduce" file="md.c" line="171" start_time="0.07606" finish_time="0.07609" count="1536" type="MPI_FLOAT" op="MPI_SUM" root="1" comm="P5_comm"/>
</processor>
`

// oops is a part of the paper's file of process 1 of the OOPS version, as well-formed XML.
const oops = `<processor rank="P1" init="0.000064" finalize="134.766716">
<hieraOOPS file="molecularDynamicsOOPS.cc" line="45" class="OOPS::TopologyGrid" method="bcast" root="0" start_time="0.031749" finish_time="0.031878">
<hieraOOPS file="Topology.cc" line="2335" class="OOPS::Group" method="bcast" root="0" start_time="0.031788" finish_time="0.031872">
<hieraMPI operation="broadcast" file="Topology.cc" line="2335" count="1" type="MPI_INT" root="0" comm="OOPS_Comm1" start_time="0.031788" finish_time="0.031866"/>
</hieraOOPS></hieraOOPS></processor>`

func load(t *testing.T, text string) *hiera.Tally {
	t.Helper()
	tally, _, err := Load(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

func TestPaperSnippets(t *testing.T) {
	p := load(t, snippet)
	if p.Rank != 0 || p.Init != 12290000 || p.End != 1969060000 || p.Operations() != 8 || len(p.Levels) != 1 {
		t.Errorf("%+v", p)
	}
	want := int64(90000 + 20000 + 40000 + 10000 + 0 + 20000 + 170000 + 30000)
	if p.Communication != want || p.Exclusive[hiera.MPI] != want || p.Top != want {
		t.Errorf("communication %d, exclusive %d, want %d", p.Communication, p.Exclusive[hiera.MPI], want)
	}
	if x := p.Sent[1]; x.Messages != 1 || x.Bytes != 4*1536 || x.Time != 40000 {
		t.Errorf("sent to 1: %+v", x)
	}
	if x := p.Received[1]; x.Messages != 1 || x.Bytes != 4 {
		t.Errorf("received from 1: %+v", x)
	}
	o := load(t, oops)
	if got := fmt.Sprint(o.Levels); got != "[1 1 1]" {
		t.Errorf("levels %s", got)
	}
	if o.Exclusive[hiera.OOPS] != 45000+6000 || o.Exclusive[hiera.MPI] != 78000 || o.Communication != 78000 {
		t.Errorf("%v, communication %d", o.Exclusive, o.Communication)
	}
	at := hiera.Place{Category: hiera.OOPS, Name: "bcast", File: "Topology.cc", Line: 2335}
	if f := o.Places[at]; f == nil || f.Count != 1 || f.Time != 84000 {
		t.Errorf("%v: %+v", at, f)
	}
}

func TestRefused(t *testing.T) {
	wrap := func(inside string) string {
		return `<processor rank="P0" init="0" finalize="9">` + inside + `</processor>`
	}
	op := `<hieraMPI operation="send" file="a" line="1" start_time="1" finish_time="2"`
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "no element"},
		"no XML":        {"hello", "text stands"},
		"gzip":          {"\x1f\x8b\x08\x00", "illegal character"},
		"another":       {"<html></html>", "outermost element is html"},
		"torn":          {`<processor rank="P0" init="0" finalize="9">` + op, "ends before"},
		"torn between":  {`<processor rank="P0" init="0" finalize="9">` + op + "/>\n", "ends before"},
		"crossed":       {wrap("<hieraUser function='f' start_time='1' finish_time='2'></hieraMPI>"), "did not begin inside"},
		"two":           {wrap("") + wrap(""), "more than one outermost"},
		"entity":        {wrap("&bomb;"), "entity"},
		"in value":      {wrap(`<hieraMPI operation="&bomb;" start_time="1" finish_time="2"/>`), "entity"},
		"outside":       {`<!DOCTYPE processor [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + wrap("&x;"), "document type of its own"},
		"parameter":     {`<!DOCTYPE processor [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>` + wrap(""), "document type of its own"},
		"entities":      {`<!DOCTYPE processor [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + wrap(""), "document type of its own"},
		"text":          {wrap("words"), "text stands"},
		"no time":       {wrap(`<hieraMPI operation="send" file="a" line="1"/>`), "times in seconds"},
		"backwards":     {wrap(`<hieraMPI operation="send" start_time="2" finish_time="1"/>`), "one after the other"},
		"huge time":     {wrap(`<hieraMPI operation="send" start_time="2" finish_time="99999999999"/>`), "times in seconds"},
		"float":         {wrap(`<hieraMPI operation="send" start_time="1e3" finish_time="2"/>`), "times in seconds"},
		"nameless":      {wrap(`<hieraMPI start_time="1" finish_time="2"/>`), "does not name"},
		"rank":          {`<processor rank="Px" init="0" finalize="1"/>`, "is no rank"},
		"executions":    {wrap(op + ` executions="-1"/>`), "no number of executions"},
		"nested thread": {wrap(op + `><thread num="1"/></hieraMPI>`), "has no place"},
		"encoding":      {`<?xml version="1.0" encoding="EBCDIC"?>` + wrap(""), "convert it to UTF-8"},
		"long value":    {wrap(`<hieraMPI operation="` + strings.Repeat("x", 4000) + `" start_time="1" finish_time="2"/>`), "longer than 2048"},
	} {
		_, _, err := Load(strings.NewReader(c.text), nil)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// endless repeats a text without end, and counts what was read.
type endless struct {
	text string
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.n+int64(i))%int64(len(e.text))]
	}
	e.n += int64(len(p))
	return len(p), nil
}

// Nothing of a hostile file is kept in memory beyond the limits, however long it is.
func TestHostile(t *testing.T) {
	begin := `<processor rank="P0" init="0" finalize="9">`
	op := `<hieraMPI operation="send" start_time="1" finish_time="2"`
	for name, c := range map[string]struct{ head, again, want string }{
		"attribute":  {begin + `<hieraMPI operation="`, "x", "longer than"},
		"name":       {begin + "<", "x", "longer than"},
		"attributes": {begin + "<hieraMPI ", `a="b" `, "longer than"},
		"text":       {begin, "x", "text stands"},
		"blanks":     {begin, " ", "longer than"},
		"comment":    {begin + "<!--", "x", "longer than"},
		"directive":  {"<!DOCTYPE ", "x", "longer than"},
		"depth":      {begin, op + ">", "inside one another"},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tail := &endless{text: c.again}
		_, _, err := Load(io.MultiReader(strings.NewReader(c.head), io.LimitReader(tail, 1<<30)), nil)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.200v, want %q", name, err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 || tail.n > 16<<20 {
			t.Errorf("%s: %d MiB allocated, %d MiB read", name, used>>20, tail.n>>20)
		}
	}
}

// manyPlaces is a file whose operations all stand at other lines.
func TestManyPlaces(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		fmt.Fprint(w, `<processor rank="P0" init="0" finalize="9">`)
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(w, `<hieraMPI operation="send" file="a" line="%d" start_time="1" finish_time="2"/>`, i); err != nil {
				return
			}
		}
	}()
	_, _, err := Load(r, nil)
	r.Close()
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "call sites") {
		t.Error(err)
	}
}

// rewriter writes what it is told.
type rewriter struct {
	w *Writer
	b *bytes.Buffer
	n int // open threads
}

func (r *rewriter) Process(p *hiera.Process) { r.w = NewWriter(r.b, p) }
func (r *rewriter) Thread(num int) {
	if r.n++; r.n > 1 {
		r.w.End()
	}
	r.w.Thread(num, 0)
}
func (r *rewriter) Enter(op *hiera.Op) error          { r.w.Begin(op); return nil }
func (r *rewriter) Leave()                            { r.w.End() }
func (r *rewriter) Gap(from, to int64, reason string) { r.w.Gap(from, to, reason) }

func sample(w io.Writer) error {
	x := NewWriter(w, &hiera.Process{Rank: 3, Init: 0, End: 5e9, Host: "node<1>", PID: 17, Program: `a"b&c`})
	x.Gap(1, 2, "the probes were away")
	none := hiera.Op{Executions: 1, Bytes: hiera.Unknown, Dest: hiera.Unknown, Source: hiera.Unknown, Root: hiera.Unknown, Tag: hiera.Unknown,
		Peer: hiera.Unknown, From: hiera.Unknown}
	for num := range 2 {
		x.Thread(num, 100+num)
		user := none
		user.Category, user.Name, user.Class, user.File, user.Line, user.Start, user.Finish = "eigen", "solve", "Eig<double>", "e.cc", 7, 1e9, 4e9
		x.Begin(&user)
		omp := none
		omp.Category, omp.Name, omp.Object, omp.File, omp.Line, omp.Start, omp.Finish = hiera.OpenMP, "CRITICAL", "lock", "e.cc", 9, 1e9, 2e9
		omp.Executions = 12
		x.Begin(&omp, Part{"enter", 5e8}, Part{"exit", 0})
		x.End()
		call := none
		call.Category, call.Name, call.File, call.Line, call.Start, call.Finish = hiera.MPI, "broadcast", "e.cc", 11, 2e9, 3e9
		call.Bytes, call.Root, call.Comm, call.Open = 4096, 2, hiera.World, true
		x.Begin(&call)
		inner := none
		inner.Category, inner.Name, inner.File, inner.Line, inner.Start, inner.Finish = hiera.User, "op\xff", "u.c", 1, 2100000000, 2200000000
		x.Begin(&inner)
		x.End()
		x.End()
		x.End()
		x.End()
	}
	last := none
	last.Category, last.Name, last.Class, last.Start, last.Finish = hiera.OOPS, "bcast", "OOPS::Group", 4e9, 5e9
	x.Begin(&last)
	return x.Close()
}

// What is written is valid by its own document type, and reads as the same.
func TestWritten(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, of func(io.Writer) error) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			err = errors.Join(of(f), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	config := &Config{Application: "a&b", Files: []File{{0, "trace0.xml"}, {12, "trace12.xml"}}}
	write("trace3.xml", sample)
	write("job.hiera.xml", func(w io.Writer) error { return WriteConfig(w, config) })
	write(TraceDTD, WriteTraceDTD)
	write(CollectorDTD, WriteCollectorDTD)
	write("snippet.xml", func(w io.Writer) error { _, err := io.WriteString(w, snippet); return err })
	write("oops.xml", func(w io.Writer) error {
		_, err := io.WriteString(w, "<!DOCTYPE processor SYSTEM \"trace.dtd\">"+oops)
		return err
	})
	if lint, err := exec.LookPath("xmllint"); err != nil {
		t.Error("xmllint is not installed (Debian: libxml2-utils)")
	} else {
		for _, name := range []string{"trace3.xml", "job.hiera.xml", "snippet.xml", "oops.xml"} {
			cmd := exec.Command(lint, "--noout", "--valid", name)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("xmllint --valid %s: %v\n%s", name, err, out)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "trace3.xml"))
	if err != nil {
		t.Fatal(err)
	}
	r := &rewriter{b: &bytes.Buffer{}}
	if err := Read(bytes.NewReader(text), r); err != nil {
		t.Fatal(err)
	}
	p := load(t, string(text))
	if got := fmt.Sprint(p.Levels, p.Threads, p.Unfinished, p.Communicating); got != "[3 26 2] 2 2 2" {
		t.Errorf("%s", got)
	}
	if p.Exclusive["eigen"] != 2e9 || p.Exclusive[hiera.MPI] != 18e8 || p.Exclusive[hiera.OpenMP] != 2e9 || p.Exclusive[hiera.User] != 2e8 {
		t.Errorf("%v", p.Exclusive)
	}
	again, err := ReadConfig(strings.NewReader(func() string { var b strings.Builder; WriteConfig(&b, config); return b.String() }()))
	if err != nil || again.Application != "a&b" || len(again.Files) != 2 || again.Files[1] != config.Files[1] {
		t.Errorf("%+v, %v", again, err)
	}
	for _, bad := range []string{"<hieraCollector/>", `<hieraCollector><collect_file rank="P0">../../etc/passwd</collect_file></hieraCollector>`,
		`<hieraCollector><collect_file rank="P0">/etc/passwd</collect_file></hieraCollector>`, "<x/>", `<hieraCollector><y/></hieraCollector>`,
		`<hieraCollector><collect_file rank="P0">` + strings.Repeat("n<!-- -->", mostPath+1) + "</collect_file></hieraCollector>",
		`<hieraCollector>` + strings.Repeat(`<collect_file rank="P0">`+strings.Repeat("n", mostPath)+"</collect_file>", 1+mostPaths/mostPath)} {
		if _, err := ReadConfig(strings.NewReader(bad)); !errors.Is(err, ErrRefused) {
			t.Errorf("%.200s: %v", bad, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := sample(&b); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{snippet, oops, b.String(), "<hieraCollector application='a' count_proc='1'><collect_file rank='P0'>x</collect_file></hieraCollector>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		g := hiera.NewGraph()
		tally, _, err := Load(bytes.NewReader(text), g)
		if err == nil {
			g.Join()
			for range g.ByPartner() {
			}
			if n := tally.Operations(); g.Len() == 1 && n > 0 {
				t.Errorf("%d operations and an empty graph", n)
			}
			r := &rewriter{b: &bytes.Buffer{}}
			if err := Read(bytes.NewReader(text), r); err != nil {
				t.Fatal(err)
			}
			if err := r.w.Close(); err != nil {
				t.Fatal(err)
			}
			again, _, err := Load(r.b, nil)
			if err != nil || !slices.Equal(again.Levels, tally.Levels) || !maps.Equal(again.Exclusive, tally.Exclusive) {
				t.Errorf("written again: %v, %v, want %v, %v (%v)", again.Levels, again.Exclusive, tally.Levels, tally.Exclusive, err)
			}
		} else if !errors.Is(err, ErrRefused) {
			t.Errorf("%v", err)
		}
		if _, err := ReadConfig(bytes.NewReader(text)); err != nil && !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	})
}
