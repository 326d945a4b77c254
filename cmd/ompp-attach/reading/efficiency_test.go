package reading

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/profile"
	"ompp-attach/results"
)

func TestReportEfficiency(t *testing.T) {
	dir := rankDirectory(t, 0, 1, 3)
	before := namesIn(t, dir)
	text, err := reported(t, "--efficiency", dir)
	if err != nil || !strings.Contains(text, "3 ranks, 3 threads in all") || !strings.Contains(text, "those of 3 ranks; 1 more could not be read") {
		t.Errorf("%v\n%s", err, text)
	}
	if after := namesIn(t, dir); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("files %v, before %v", after, before)
	}
	if text, err = reported(t, "--efficiency", "--rank", "3", dir); err != nil || !strings.Contains(text, "1 rank, 1 thread in all") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err = reported(t, "--format", "talp", "-o", "-", dir); err != nil || !json.Valid([]byte(text)) || !strings.Contains(text, `"numMpiRanks": 3`) {
		t.Errorf("%v\n%s", err, text)
	}
	to := filepath.Join(t.TempDir(), "out")
	if _, err := reported(t, "--efficiency", "--format", "text,csv,json", "-o", to, dir); err != nil {
		t.Error(err)
	}
	if names := strings.Join(namesIn(t, to), " "); names != "job.efficiency.csv job.efficiency.json job.efficiency.metrics.csv job.efficiency.txt" {
		t.Errorf("files: %s", names)
	}
}

func TestBadEfficiency(t *testing.T) {
	dir := rankDirectory(t, 0, 1)
	for _, c := range []struct {
		args   []string
		status int
		words  string
	}{
		{[]string{"--efficiency", "--format", "pprof", dir}, cli.BadUsage, `unknown format "pprof" of --efficiency; there are text, csv, json, talp`},
		{[]string{"--efficiency", "--rank", "7", dir}, cli.Failure, "holds no profile of rank 7"},
		{[]string{"--efficiency", t.TempDir()}, cli.Failure, "holds no recorded profile"},
		{[]string{"--efficiency", filepath.Join(dir, "nowhere")}, cli.Failure, "cannot open"},
	} {
		_, err := reported(t, c.args...)
		wantError(t, err, c.status, c.words)
	}
}

// If the efficiency of one process cannot be told, the files of the others are written.
func TestHiddenEfficiency(t *testing.T) {
	dir := t.TempDir()
	for name, cost := range map[string]int64{results.RecordName: 1, "profile.pid7" + results.RecordSuffix: 9e8} {
		stats := profile.ThreadStats{Cost: &profile.Cost{Exec: cost}}
		p := &profile.Profile{Threads: []profile.Thread{{TIDs: []int{1}}}, Nodes: []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{stats}}}}
		p.Meta.Program, p.Meta.Duration, p.Meta.UserTime = "app", 1e9, 1e9
		p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Hits: uint64(cost), Before: 1}}}
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), b.Bytes())
	}
	to := filepath.Join(t.TempDir(), "out")
	_, err := reported(t, "--efficiency", "--format", "text,json", "-o", to, dir)
	wantError(t, err, cli.Failure, "profile.pid7: the efficiency cannot be told: ")
	if names := strings.Join(namesIn(t, to), " "); names != "profile.efficiency.json profile.efficiency.txt profile.pid7.efficiency.txt" {
		t.Errorf("files: %s", names)
	}
}

func TestScaling(t *testing.T) {
	one, two := directoryOf(t, 1, 0), directoryOf(t, 2, 0, 1)
	to := t.TempDir()
	f := reportFlags{rank: -1, formats: []string{"text", "csv", "json", "extrap"}, dir: to}
	if err := scaling([]string{two, one}, &f, false); err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(namesIn(t, to), " "); names != "scaling.csv scaling.json scaling.jsonl scaling.txt" {
		t.Errorf("files: %s", names)
	}
	text, err := os.ReadFile(filepath.Join(to, "scaling.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := strings.Index(string(text), " 1 x 1 "), strings.Index(string(text), " 2 x 1 "); a < 0 || b < a {
		t.Errorf("the smaller run is not the first:\n%s", text)
	}
}

func TestBadScaling(t *testing.T) {
	dir := rankDirectory(t, 0)
	flags := func(formats ...string) *reportFlags { return &reportFlags{rank: -1, formats: formats, dir: "-"} }
	wantError(t, scaling([]string{dir, dir}, flags("pprof"), false), cli.BadUsage, `unknown format "pprof" of scaling`)
	wantError(t, scaling([]string{dir, dir}, flags("csv", "json"), false), cli.BadUsage, "takes one format")
	wantError(t, scaling([]string{dir, filepath.Join(dir, "nowhere")}, flags("text"), false), cli.Failure, "cannot open")
	c := command()
	c.SetArgs([]string{"scaling", dir})
	wantError(t, c.Execute(), cli.Failure, "two or more runs")
}

// wantError checks the exit status and the sentence of an error.
func wantError(t *testing.T, err error, status int, words string) {
	t.Helper()
	got := cli.Failure
	var ee *cli.Exit
	if errors.As(err, &ee) {
		got = ee.Status
	}
	if err == nil || got != status || !strings.Contains(err.Error(), words) {
		t.Errorf("%v (status %d), want %q (status %d)", err, got, words, status)
	}
}

func TestSignature(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.json")
	c := command()
	c.SetArgs([]string{"signature", "-o", name, rankDirectory(t, 0, 1)})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	var s struct {
		Program string `json:"program"`
		Ranks   int    `json:"ranks"`
	}
	data, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(data, &s) != nil || s.Program != "app" || s.Ranks != 2 {
		t.Errorf("%v\n%s", err, data)
	}
	c.SetArgs([]string{"signature", t.TempDir()})
	wantError(t, c.Execute(), cli.Failure, "holds no recorded profile")
}

func TestPredict(t *testing.T) {
	name := filepath.Join(t.TempDir(), "predict.json")
	one, two := directoryOf(t, 1, 0), directoryOf(t, 2, 0, 1)
	c := command()
	c.SetArgs([]string{"predict", "--format", "json", "-o", name, one, two})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil || !json.Valid(data) || !strings.Contains(string(data), `"cores": 8`) {
		t.Errorf("%v\n%s", err, data)
	}
	for _, bad := range []struct {
		args   []string
		status int
		words  string
	}{
		{[]string{"predict", "--format", "csv", one}, cli.BadUsage, `unknown format "csv" of predict`},
		{[]string{"predict", "--cores", "-1", one}, cli.BadUsage, "--cores -1: give a number"},
		{[]string{"predict", t.TempDir()}, cli.Failure, "holds no recorded profile"},
	} {
		c := command()
		c.SetArgs(bad.args)
		wantError(t, c.Execute(), bad.status, bad.words)
	}
}
