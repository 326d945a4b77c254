package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
)

// Probes in functions that keep data below the stack pointer leave that alone.
func TestRedZone(t *testing.T) {
	atOnce(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("no other architecture lets functions keep data below the stack pointer, or makes calls of nops")
	}
	src, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", "redzone.c"))
	if err != nil {
		t.Fatal(err)
	}
	line := func(mark string) int {
		before, _, ok := strings.Cut(string(src), mark)
		if !ok {
			t.Fatalf("redzone.c has no %q", mark)
		}
		return strings.Count(before, "\n") + 1
	}
	region := fmt.Sprintf("lines=redzone.c:%d-%d", line("// begin lines"), line("// end lines"))
	for _, compiler := range []string{"gcc", "clang-19"} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(compiler+" "+level, func(t *testing.T) {
				b := build{compiler, level + " -g"}
				bin := testbin.Build(t, "redzone.c", withMarkers(t, b))
				s := clean(t, options{flags: []string{"--function", "^bare$", "--region", region}}, bin)
				sameCounts(t, userCounts(s.main), printedCounts(t, s.stdout))
			})
		}
	}
}
