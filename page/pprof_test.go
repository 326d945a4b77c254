package page

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ompp-attach/report"
)

// pprofTool runs `go tool pprof` with a home of its own.
func pprofTool(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here: go tool pprof cannot be tried")
	}
	env, err := exec.Command(goTool, "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(env))
	cmd := exec.Command(goTool, append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GOCACHE="+caches[0], "GOMODCACHE="+caches[1])
	return cmd
}

// servePprof serves a profile with pprof's own pages until the test ends.
func servePprof(t *testing.T, file string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// `go tool pprof` would start the server as a child that outlives the signal.
	path := pprofTool(t, "-h")
	binary, err := exec.Command(path.Path, "tool", "-n", "pprof").Output()
	if err != nil {
		t.Fatal(err)
	}
	// The first `go tool pprof` builds the binary.
	if _, err := os.Stat(strings.TrimSpace(string(binary))); err != nil {
		_ = path.Run()
	}
	cmd := exec.Command(strings.TrimSpace(string(binary)), "-http="+address, "-no_browser", file)
	cmd.Env = path.Env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if r, err := http.Get("http://" + address + "/ui/top"); err == nil {
			_ = r.Body.Close()
			return address
		}
		if time.Now().After(end) {
			t.Fatalf("pprof serves nothing: %s", said.String())
		}
	}
}

// TestPprofInBrowser: pprof's pages show the regions of a profile, and the sampled functions. Even
// in a narrow box, which shows the beginning of a name, the construct can be read.
func TestPprofInBrowser(t *testing.T) {
	b := openBrowser(t)
	p := withSource(t, solver())
	for i := range p.Regions { // names with dots, as compilers of C and Fortran make them
		p.Regions[i].Location.Function = "grid.solve._omp_fn.0"
	}
	address := servePprof(t, save(t, "profile.pb.gz", func(w io.Writer) error { return report.WritePprof(w, p, report.Options{}) }))
	b.local = address
	visit := func(view, ready string) {
		t.Helper()
		b.run(t, view, chromedp.EmulateViewport(1400, 900), chromedp.Navigate("http://"+address+"/ui/"+view), chromedp.WaitVisible(ready, chromedp.ByQuery))
		b.photograph(t, "pprof-"+strings.SplitN(view, "?", 2)[0])
	}

	visit("flamegraph", "#stack-chart .boxtext")
	texts := ask[[]string](t, b, `[...document.querySelectorAll("#stack-chart .boxtext")].map((e) => e.textContent).filter((s) => s)`)
	constructs := regexp.MustCompile(`^(main::|libsolve::)?(PARALLEL|PARALLEL LOOP|LOOP|CRITICAL|SINGLE|BARRIER|LOCK)( |$|…|\.\.)|^solver|^root`)
	seen := map[string]bool{}
	for _, text := range texts {
		if !constructs.MatchString(text) {
			t.Errorf("the flame graph has a box %q", text)
		}
		seen[strings.TrimPrefix(text, "main::")] = true
	}
	for _, want := range []string{"PARALLEL 20-60", "LOOP 24-30", "PARALLEL LOOP 80-95"} {
		if !seen[want] {
			t.Errorf("the flame graph has no box %q: %q", want, texts)
		}
	}

	visit("top?trim=f", "#rows td")
	if text := ask[string](t, b, `document.querySelector("#toptable").innerText`); !strings.Contains(text, "main::LOOP 24-30") || !strings.Contains(text, "libsolve::LOCK ~grid_solve__omp_fn_0 0x1a2b") {
		t.Errorf("top: %s", text)
	}
	visit("peek?f=CRITICAL", "#content pre")
	if text := ask[string](t, b, `document.querySelector("#content").innerText`); !regexp.MustCompile(`main::PARALLEL 20-60\s[\s\S]*main::CRITICAL queue 33-36`).MatchString(text) {
		t.Errorf("peek: %s", text)
	}
	visit("source?f=LOOP%2024-30", "#content")
	if text := ask[string](t, b, `document.querySelector("#content").innerText`); !strings.Contains(text, "for (int i = 0; i < 24; i++)") {
		t.Errorf("source: %s", text)
	}
	if _, err := exec.LookPath("dot"); err != nil {
		t.Log("no graphviz here: the graph was not tried")
		return
	}
	visit("graph", "#graph svg")
	if text := ask[string](t, b, `[...document.querySelectorAll("#graph text")].map((e) => e.textContent).join(" ")`); !strings.Contains(text, "LOOP 24-30") || !strings.Contains(text, "CRITICAL queue 33-36") {
		t.Errorf("graph: %s", text)
	}
}

// TestPprofCommands: -top, -peek and -list name regions, and list their lines.
func TestPprofCommands(t *testing.T) {
	p := withSource(t, solver())
	dir := t.TempDir()
	regions, samples := filepath.Join(dir, "profile.pb.gz"), filepath.Join(dir, "profile.samples.pb.gz")
	for file, write := range map[string]func(io.Writer) error{
		regions: func(w io.Writer) error { return report.WritePprof(w, p, report.Options{}) },
		samples: func(w io.Writer) error { return report.WriteSamples(w, p, report.Options{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ view, file, want string }{
		{"-top", regions, `main::LOOP 24-30\n`},
		{"-top", samples, `main \(omp_fn_0\)\n`},
		{"-peek=LOCK", regions, `main::LOOP 24-30\n.*\|\s+libsolve::LOCK ~solve 0x1a2b`},
		{"-list=LOOP 24-30", regions, `24:\s+for \(int i = 0; i < 24; i\+\+\)`},
		{"-list=omp_fn_0", samples, `27:\s+for \(int i = 0; i < 27; i\+\+\)`},
	} {
		t.Run(tt.view, func(t *testing.T) {
			out, err := pprofTool(t, tt.view, tt.file).CombinedOutput()
			if err != nil || !regexp.MustCompile(tt.want).Match(out) {
				t.Errorf("%v, no %s in\n%s", err, tt.want, out)
			}
		})
	}
}
