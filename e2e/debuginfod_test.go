package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ompp-attach/event"
)

// Names and lines of a stripped library come from a debuginfod server, once, if one is named. A
// server that does not answer costs no more than the time it is given.
func TestDebuginfod(t *testing.T) {
	atOnce(t)
	bin, lib, whole := strippedProgram(t, "gcc")
	debug := filepath.Join(t.TempDir(), "debuginfo")
	if out, err := exec.Command("objcopy", "--only-keep-debug", whole, debug).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	id := openObject(t, lib).BuildID()
	var given atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buildid/"+id+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		given.Add(1)
		http.ServeFile(w, r, debug)
	}))
	defer server.Close()
	env := append(threadsEnv(2), "DEBUGINFOD_URLS="+server.URL, "DEBUGINFOD_CACHE_PATH="+filepath.Join(t.TempDir(), "cache"))
	for range 2 { // the second time from the cache
		s := clean(t, options{env: env}, bin, lib)
		lines := 0
		for i := range s.main.Regions {
			r := &s.main.Regions[i]
			if l := &r.Location; filepath.Base(l.File) == "libstripped.c" && l.Begin > 0 && (l.Function == "apply" || l.Function == "direct") {
				lines++
			}
			if r.Construct == event.Loop && r.Location.Begin == 0 {
				t.Errorf("%+v has no line", r)
			}
		}
		if lines < 4 {
			t.Errorf("%d regions have lines, want 4\n%s", lines, dump(s.main))
		}
		kernel := false
		for i := range s.main.Frames {
			f := &s.main.Frames[i]
			kernel = kernel || f.Function == "kernel" && filepath.Base(f.File) == "libstripped.c"
		}
		if !kernel {
			t.Error("no sample names kernel and its line")
		}
	}
	if n := given.Load(); n != 1 {
		t.Errorf("the server gave the file %d times, want once", n)
	}
}

func TestDebuginfodServerHangs(t *testing.T) {
	atOnce(t)
	bin, lib, _ := strippedProgram(t, "gcc")
	release := make(chan struct{})
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	s := clean(t, options{env: append(threadsEnv(2), "DEBUGINFOD_URLS="+server.URL, "DEBUGINFOD_MAXTIME=1",
		"DEBUGINFOD_CACHE_PATH="+filepath.Join(t.TempDir(), "cache"))}, bin, lib)
	if asked.Load() == 0 {
		t.Error("the server was not asked")
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "build id " + openObject(t, lib).BuildID(); !strings.Contains(string(text), want) {
		t.Errorf("the report lacks %q", want)
	}
}
