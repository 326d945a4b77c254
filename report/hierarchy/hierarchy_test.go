package hierarchy

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/hiera"
	"ompp-attach/hiera/hieratest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// paper has the statistics of the paper's version with MPI.
func paper(t *testing.T) (*hiera.Statistics, Options) {
	t.Helper()
	g := hiera.NewGraph()
	s, err := hieratest.Load(hieratest.MPIVersion, g)
	if err != nil {
		t.Fatal(err)
	}
	s.Notes = []string{"A note."}
	o := Options{Graph: g, Rank: -1}
	for rank := range 4 {
		o.Plain = append(o.Plain, hieratest.MPITimes[rank].Plain)
	}
	g.Join()
	return s, o
}

func TestGolden(t *testing.T) {
	s, o := paper(t)
	for _, f := range Formats {
		for _, file := range f.Files {
			var b bytes.Buffer
			if err := file.Write(&b, s, o); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("testdata", file.Name)
			if *update {
				if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil || !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s differs (%v): go test ./report/hierarchy -update, and look at it", name, err)
			}
		}
	}
}

// The formats tell the same counts.
func TestSums(t *testing.T) {
	s, o := paper(t)
	var b bytes.Buffer
	if err := WriteJSON(&b, s, o); err != nil {
		t.Fatal(err)
	}
	var j struct {
		Operations uint64
		Places     []struct{ Count uint64 } `json:"by_place"`
	}
	if err := json.Unmarshal(b.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	sum := uint64(0)
	for _, p := range j.Places {
		sum += p.Count
	}
	if sum != 8828 || j.Operations != 8828 {
		t.Errorf("JSON: %d operations, %d at call sites", j.Operations, sum)
	}
	b.Reset()
	if err := placesOfEach(s, o).writeCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sum = 0
	for _, r := range rows[1:] {
		var n uint64
		fmt.Sscan(r[5], &n)
		sum += n
	}
	if rows[0][5] != "count" || sum != 8828 {
		t.Errorf("CSV: %q: %d", rows[0][5], sum)
	}
}

// Names of a hostile trace do no harm to a terminal, and nothing at all is no trouble.
func TestNames(t *testing.T) {
	tally := hiera.NewTally(hiera.Process{End: 5})
	op := hiera.Op{Category: "lev\x1b[2J", Name: "f\x1b]0;x\a", File: "a\nb", Executions: 1, Finish: 3}
	if err := tally.Enter(&op); err != nil {
		t.Fatal(err)
	}
	tally.Leave()
	s := &hiera.Statistics{Program: "\x1b", Processes: []*hiera.Tally{tally}}
	var b bytes.Buffer
	if err := WriteText(&b, s, Options{Rank: -1, All: true}); err != nil || strings.ContainsAny(b.String(), "\x1b\a") {
		t.Errorf("%v, %q", err, b.String())
	}
	for _, f := range Formats {
		for _, file := range f.Files {
			if err := file.Write(io.Discard, &hiera.Statistics{}, Options{Rank: -1}); err != nil && !errors.Is(err, ErrNothing) {
				t.Errorf("%s: %v", file.Name, err)
			}
		}
	}
}
