package testbin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// libomp is what a compiler must be told to build against an installed libomp.
type libomp struct {
	includeFlags, linkFlags []string
}

// findLibomp locates compiler's libomp. If only another version of clang has one (distributions
// allow one libomp at a time), that one serves: the ABI is the same. It skips the test when there
// is none.
func findLibomp(t testing.TB, compiler string) libomp {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("compiler %s is not installed", compiler)
	}
	var found libomp
	for _, c := range append([]string{compiler}, clangs()...) {
		if lib := ask(c, "-print-file-name=libomp.so"); filepath.IsAbs(lib) {
			// The file's own folder also holds the name that programs
			// are linked to (libomp.so.5).
			if dir, err := filepath.EvalSymlinks(filepath.Dir(lib)); err == nil {
				found.linkFlags = []string{"-L" + dir, "-Wl,-rpath," + dir}
				break
			}
		}
	}
	if found.linkFlags == nil {
		t.Skipf("libomp for %s is not installed", compiler)
	}
	for _, c := range append([]string{compiler}, clangs()...) {
		include := filepath.Join(ask(c, "-print-resource-dir"), "include")
		if _, err := os.Stat(filepath.Join(include, "omp.h")); err == nil {
			// After everything else, so that nothing but the OpenMP
			// headers is taken from another version.
			found.includeFlags = []string{"-idirafter", include}
			return found
		}
	}
	t.Skipf("omp.h for %s is not installed", compiler)
	return found
}

// ask returns a compiler's answer to a question like -print-resource-dir, "" if it has none.
func ask(compiler, question string) string {
	type asked struct{ compiler, question string }
	if a, ok := answers.Load(asked{compiler, question}); ok {
		return a.(string)
	}
	out, err := exec.Command(compiler, question).Output()
	if err != nil {
		return ""
	}
	answer := strings.TrimSpace(string(out))
	answers.Store(asked{compiler, question}, answer)
	return answer
}

var answers sync.Map // to ask's questions: a compiler takes some 50 ms for one

// clangs lists the versioned clang commands in PATH.
func clangs() []string {
	var names []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, err := filepath.Glob(filepath.Join(dir, "clang-[0-9]*"))
		if err != nil {
			continue
		}
		for _, f := range found {
			if name := filepath.Base(f); strings.Trim(name, "clang-0123456789") == "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// anyClangWithOMPT returns a clang that comes with omp-tools.h.
func anyClangWithOMPT() (string, bool) {
	for _, c := range clangs() {
		if _, err := os.Stat(filepath.Join(ask(c, "-print-resource-dir"), "include", "omp-tools.h")); err == nil {
			return c, true
		}
	}
	return "", false
}

// NeedOffload skips the test unless a clang can compile target regions for the
// host as a device and has the library that runs them.
func NeedOffload(t testing.TB, compiler string) {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("compiler %s is not installed", compiler)
	}
	for _, need := range []string{"-print-file-name=libomptarget.so", "-print-prog-name=clang-linker-wrapper"} {
		if !filepath.IsAbs(ask(compiler, need)) {
			t.Skipf("%s has no %s", compiler, need[strings.Index(need, "=")+1:])
		}
	}
}
