package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// Of programs that use no runtime the tool hears once per file, and it stops none of
// them again: what a shell starts most.
func TestPlainProgramsAreNotStopped(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	s := run(t, options{env: threadsEnv(2), flags: []string{"--verbose"}}, "/bin/sh", "-c",
		`for i in $(seq 50); do /bin/true; done; "$0" 1 8; for i in $(seq 50); do /bin/true; done; "$0" 1 8`, bin)
	if s.exit != 0 || len(s.others) != 2 {
		t.Fatalf("exit status %d, %d profiles; stderr: %s", s.exit, len(s.others), s.stderr)
	}
	for _, p := range s.others {
		complete(t, p)
		if p.Meta.Stopped.Times > 2 {
			t.Errorf("a program was stopped %d times", p.Meta.Stopped.Times)
		}
	}
	// The shell's start and libraries; a seq, a true; the program's start and
	// libraries, twice. One more each where the loader cannot be watched.
	told := strings.Count(s.stderr, ": runs a new program") + strings.Count(s.stderr, ": loaded or unloaded libraries")
	if told > 10 {
		t.Errorf("the tool heard %d times of what 104 programs do:\n%s", told, s.stderr)
	}
}

// A plain file that is written anew in its place may be anything.
func TestPlainFileIsReplaced(t *testing.T) {
	atOnce(t)
	plain := testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true})
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	s := run(t, options{env: threadsEnv(2), wd: t.TempDir()}, "/bin/sh", "-c",
		`cp "$0" prog; sleep 0.2; ./prog; ./prog; cat "$1" >prog; ./prog 1 8; cat "$0" >prog; ./prog; cat "$1" >prog; ./prog 1 8`, plain, bin)
	if s.exit != 0 || len(s.others) != 2 {
		t.Fatalf("exit status %d, %d profiles, want 2; stderr: %s", s.exit, len(s.others), s.stderr)
	}
	for _, p := range s.others {
		complete(t, p)
	}
}

// A program that computes for a while before it loads a runtime is sampled late, and its report
// says so. If the program had no core for so long that it had run for a second before it computed,
// it is sampled from there on: then samples lack none of its time.
func TestSamplesBeginLate(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "dlopened.c", testbin.Options{NoOpenMP: true})
	lib := testbin.Build(t, "libregions.c", testbin.Options{Flags: []string{"-O2", "-g", "-fPIC", "-shared"}})
	s := run(t, options{env: threadsEnv(2), flags: []string{"--sample", "task-clock"}}, "/bin/sh", "-c", `"$0" "$1" 1 1 600; echo over`, bin, lib)
	if s.exit != 0 || len(s.others) != 1 {
		t.Fatalf("exit status %d, %d profiles, want 1; stderr: %s", s.exit, len(s.others), s.stderr)
	}
	for _, p := range s.others {
		if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasPrefix(w, "Samples of this process begin ") }) {
			var sampled uint64
			for i := range p.Samples {
				sampled += p.Samples[i].Count
			}
			used := time.Duration(p.Meta.UserTime + p.Meta.SysTime)
			if lacks := used - time.Duration(float64(sampled)/float64(p.Meta.Sampling.Frequency)*1e9); lacks > 100*time.Millisecond {
				t.Errorf("the report does not say that samples begin late: %q; of %s of processor time, they lack %s", p.Warnings, used, lacks)
			}
		}
	}
}

// A program that has run for a while is sampled, also if it uses no runtime so far. If it uses none
// at all, nothing is said of it.
func TestPlainProgramRunsLong(t *testing.T) {
	atOnce(t)
	s := run(t, options{}, "/bin/sh", "-c", `sleep 0.8; echo "$0"`, "over")
	if s.exit != 0 || len(s.others) != 0 || strings.Contains(s.stderr, "Samples of this process") {
		t.Errorf("exit status %d, %d profiles; stderr: %s", s.exit, len(s.others), s.stderr)
	}
}
