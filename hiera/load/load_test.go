package load_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/hiera/hieratest"
	"ompp-attach/hiera/load"
	"ompp-attach/hiera/recorded"
	"ompp-attach/hiera/xmltrace"
)

func write(t *testing.T, name string, of func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(name)
	if err == nil {
		err = errors.Join(of(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A directory of traces, its configuration file, and the files give the same statistics.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	var names []string
	c := xmltrace.Config{Application: "dinamica"}
	for rank, name := range []string{"trace0.xml", "trace1.xml", "trace2.xml", "trace3.xml"} {
		write(t, filepath.Join(dir, name), func(w io.Writer) error { return hieratest.MPIVersion(w, rank) })
		c.Files = append(c.Files, xmltrace.File{Rank: rank, Name: name})
		names = append([]string{filepath.Join(dir, name)}, names...)
	}
	brackets := filepath.Join(t.TempDir(), "a[1]*?")
	if err := os.Mkdir(brackets, 0o755); err != nil {
		t.Fatal(err)
	}
	for rank, f := range c.Files {
		write(t, filepath.Join(brackets, f.Name), func(w io.Writer) error { return hieratest.MPIVersion(w, rank) })
	}
	check := func(paths ...string) *load.Loaded {
		t.Helper()
		l, err := load.Paths(paths, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Operations() != 8828 || len(l.Processes) != 4 || l.Processes[1].Rank != 1 || l.Graph.Len() != 8832 || l.Graph.Edges() != 378+27 {
			t.Errorf("%v: %d operations of %d processes, %d vertices, %d edges", paths, l.Operations(), len(l.Processes), l.Graph.Len(), l.Graph.Edges())
		}
		return l
	}
	check(dir)
	check(names...)
	check(brackets)
	config := filepath.Join(dir, "job.hiera.xml")
	write(t, config, func(w io.Writer) error { return xmltrace.WriteConfig(w, &c) })
	for _, path := range []string{config, dir} {
		if l := check(path); l.Program != "dinamica" {
			t.Errorf("program %q", l.Program)
		}
	}
	torn := filepath.Join(dir, "torn.xml")
	write(t, torn, func(w io.Writer) error {
		_, err := io.WriteString(w, `<processor rank="P0" init="0" finalize="1"><hieraMPI`)
		return err
	})
	gap := filepath.Join(dir, "gap.xml")
	write(t, gap, func(w io.Writer) error {
		_, err := io.WriteString(w, `<processor rank="P9" init="0" finalize="3"><gap start_time="1" finish_time="2.5" reason="dropped"/>
			<hieraMPI operation="recv" start_time="2.5" finish_time="3" open="yes"/></processor>`)
		return err
	})
	if l, err := load.Paths([]string{gap}, load.Options{}); err != nil || len(l.Notes) != 2 || !strings.Contains(l.Notes[0], "the trace lacks 1.500 s (number of gaps: 1)") {
		t.Errorf("%v, %v", l, err)
	}
	whole := filepath.Join(dir, "whole.xml")
	write(t, whole, func(w io.Writer) error {
		_, err := io.WriteString(w, `<processor rank="P0" init="0" finalize="3"><hieraMPI operation="init" start_time="0" finish_time="2"/></processor>`)
		return err
	})
	if l, err := load.Paths([]string{whole}, load.Options{}); err != nil || len(l.Notes) != 1 || l.Notes[0] != recorded.NoteStartEnd || l.Processes[0].Communication != 0 {
		t.Errorf("%v, %v", l, err)
	}
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{torn}, "torn.xml: this is no trace that can be read: line 1: it ends before"},
		{[]string{names[0], names[0]}, "both of process 3"},
		{[]string{filepath.Join(dir, "none.xml")}, "none.xml"},
		{[]string{names[0], filepath.Join(dir, "none.xml")}, "no such file"},
		{[]string{t.TempDir()}, "holds neither recorded profiles"},
	} {
		if _, err := load.Paths(c.paths, load.Options{}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want %q", c.paths, err, c.want)
		}
	}
}
