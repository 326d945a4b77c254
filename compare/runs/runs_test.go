package runs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/compare/comparetest"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// save writes the profile of a made-up program of that name to a file.
func save(t *testing.T, file, program string, change func(*profile.Profile)) {
	t.Helper()
	heat := comparetest.Heat()
	heat.Name = program
	p := heat.Profile(func() float64 { return 1 })
	if change != nil {
		change(p)
	}
	var b bytes.Buffer
	if err := profile.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func rank(r, size int) func(*profile.Profile) {
	return func(p *profile.Profile) { p.Meta.MPI = &profile.MPIJob{Rank: r, Size: size} }
}

// in builds a directory of runs:
//
//	one, two, a,b     a profile each
//	many/first ...    two runs, a directory that is none, and a file
//	job               the ranks 0 and 2 of 3, and a process that is no rank
//	tree              two processes
//	torn              two processes, the profile of one is damaged
//	nothing           a directory without profiles
func in(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	for _, run := range []string{"one", "two", "a,b", "many/second", "many/first"} {
		save(t, at(run, results.RecordName), filepath.Base(run), nil)
	}
	save(t, at("many", "no profile", "text"), "text", nil)
	save(t, at("many", "text"), "text", nil)
	save(t, at("job", "profile.rank0.json.gz"), "job", rank(0, 3))
	save(t, at("job", "profile.rank2.json.gz"), "job", rank(2, 3))
	save(t, at("job", results.RecordName), "mpirun", nil)
	save(t, at("tree", results.RecordName), "tree", nil)
	save(t, at("tree", "profile.pid7.json.gz"), "tree", nil)
	save(t, at("torn", results.RecordName), "torn", nil)
	if err := os.WriteFile(at("torn", "profile.pid7.json.gz"), []byte("not a profile"), 0o644); err != nil {
		t.Fatal(err)
	}
	save(t, at("nothing", "text"), "text", nil)
	return dir
}

// What a user names is read as the runs that it stands for, in order, each whole or with a note.
func TestOfSide(t *testing.T) {
	t.Chdir(in(t))
	for _, tc := range []struct {
		side  string
		want  []string // names of the runs
		ranks int      // of each
		note  string
	}{
		{side: "one", want: []string{"one"}, ranks: 1},
		{side: "one/profile.json.gz", want: []string{"one/profile.json.gz"}, ranks: 1},
		{side: "two,one,two", want: []string{"two", "one", "two"}, ranks: 1},
		{side: "a,b", want: []string{"a,b"}, ranks: 1}, // a directory of that name
		{side: "many", want: []string{"many/first", "many/second"}, ranks: 1},
		{side: "many,one", want: []string{"many/first", "many/second", "one"}, ranks: 1},
		{side: "tree", want: []string{"tree"}, ranks: 2},
		{side: "job", want: []string{"job"}, ranks: 2, note: "1"},
		{side: "torn", want: []string{"torn"}, ranks: 1, note: "1 of the 2 profiles could not be read."},
	} {
		got, err := OfSide(tc.side, Options{Warn: func(format string, a ...any) { t.Errorf("%s: "+format, append([]any{tc.side}, a...)...) }})
		if err != nil {
			t.Errorf("%s: %v", tc.side, err)
			continue
		}
		var names []string
		for _, r := range got {
			names = append(names, r.Name)
			if len(r.Job.Ranks) != tc.ranks {
				t.Errorf("%s: %s has %d ranks, want %d", tc.side, r.Name, len(r.Job.Ranks), tc.ranks)
			}
			if notes := strings.Join(r.Notes, "\n"); (notes != "") != (tc.note != "") || !strings.Contains(notes, tc.note) {
				t.Errorf("%s: notes %q, want %q", tc.side, r.Notes, tc.note)
			}
		}
		if fmt.Sprint(names) != fmt.Sprint(tc.want) {
			t.Errorf("%s: runs %q, want %q", tc.side, names, tc.want)
		}
	}
}

// What cannot be read is told in one sentence, and no part of a side is left out silently.
func TestOfSideRefuses(t *testing.T) {
	t.Chdir(in(t))
	for _, tc := range []struct{ side, want string }{
		{"absent", "cannot open absent"},
		{"one,absent", "cannot open absent"},
		{"one,", "give directories with commas between"},
		{",one", "give directories with commas between"},
		{"nothing", "holds no recorded profile"},
		{"one,nothing", "nothing holds no recorded profile"},
		{"nothing/text/below", "cannot open nothing/text/below"},
		{"torn/profile.pid7.json.gz", "torn/profile.pid7.json.gz: "},
	} {
		got, err := OfSide(tc.side, Options{Warn: t.Errorf})
		if err == nil || got != nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %d runs, %v, want %q", tc.side, len(got), err, tc.want)
		}
		if noName := strings.Contains(tc.want, "commas"); errors.Is(err, ErrNoName) != noName {
			t.Errorf("%s: ErrNoName %t, want %t", tc.side, !noName, noName)
		}
	}
}

// Raw asks for times with what the probes took; otherwise that is taken out.
func TestRaw(t *testing.T) {
	dir := t.TempDir()
	const cost = 1_000_000 // ns, of each loop and thread
	save(t, filepath.Join(dir, results.RecordName), "heat", func(p *profile.Profile) {
		p.Meta.Overhead = &profile.Overhead{}
		for i := range p.Nodes {
			for j := range p.Nodes[i].Stats {
				p.Nodes[i].Stats[j].Cost = &profile.Cost{Exec: cost, Body: cost}
			}
		}
	})
	// The first loop: 200 ms on each of four threads.
	for _, tc := range []struct {
		raw  bool
		want float64
	}{{true, 4 * 200e6}, {false, 4 * (200e6 - cost)}} {
		got, err := OfSide(dir, Options{Raw: tc.raw, Warn: t.Errorf})
		if err != nil {
			t.Fatal(err)
		}
		var exec float64
		for _, r := range got[0].Job.Regions {
			if r.Location.Begin == 10 {
				exec = r.Stats(job.ExecT).Mean
			}
		}
		if math.Abs(exec/tc.want-1) > 1e-9 {
			t.Errorf("raw %t: %.0f ns, want %.0f", tc.raw, exec, tc.want)
		}
	}
}
