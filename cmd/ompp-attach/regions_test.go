package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/regions"
)

func TestListRegions(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	bin := testbin.Build(t, "timed.c", testbin.Options{})
	programs := filepath.Join(testbin.Repo(t), "testdata", "programs")
	var out strings.Builder
	if err := listRegions(&out, bin, programs, false, true); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{
		"122 129 PARALLEL named exact call, line table, source pragma, symbol",
		"125 128 CRITICAL (ledger) named exact call, source pragma",
		"247 257 SECTIONS 4 sections exact call, source pragma",
		"BEGIN END TYPE SECTIONS FUNCTION MEASURED FOUND BY",
	} {
		found := false
		for _, l := range lines {
			found = found || l == want
		}
		if !found {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
	var again, asJSON strings.Builder
	if err := listRegions(&again, bin, programs, false, true); err != nil || again.String() != out.String() {
		t.Errorf("the cached list is another one, %v:\n%s", err, again.String())
	}
	if err := listRegions(&asJSON, bin, programs, true, false); err != nil {
		t.Fatal(err)
	}
	var table regions.Table
	if err := json.Unmarshal([]byte(asJSON.String()), &table); err != nil || len(table.Regions) < 28 {
		t.Errorf("%d regions in the JSON, %v", len(table.Regions), err)
	}
}

func TestListRegionsRefuses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ path, source, want string }{
		{filepath.Join(dir, "none"), "", "no such file"},
		{text, "", "not an ELF file"},
		{dir, "", "not a regular file"},
		{testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}), "", "calls no OpenMP runtime"},
		{testbin.Build(t, "timed.c", testbin.Options{}), text, "no directory"},
	} {
		err := listRegions(&strings.Builder{}, tc.path, tc.source, false, false)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", tc.path, err, tc.want)
		}
	}
}
