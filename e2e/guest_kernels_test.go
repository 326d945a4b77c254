package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// needGuest86 skips where no x86-64 machine can be emulated with the programs of this one.
func needGuest86(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("emulating a machine takes a minute")
	}
	if runtime.GOARCH != "amd64" {
		t.Skipf("the compilers here make programs for %s, the guest runs those for x86-64", runtime.GOARCH)
	}
	for _, c := range []string{"qemu-system-x86_64", "cpio", "dpkg-deb"} {
		if _, err := exec.LookPath(c); err != nil {
			t.Skipf("%s is not installed (scripts/deps.sh pmu)", c)
		}
	}
}

// TestGuestKernels: run and attach work with Debian's kernels on x86-64, in every way of
// probing that the kernel has. Session probes came with 6.13; this machine's own tests use them.
// The emulated machine has no hardware unit: counters that it lacks are told.
func TestGuestKernels(t *testing.T) {
	atOnce(t)
	needGuest86(t)
	const threads = 2
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	longrun := testbin.Build(t, "longrun.c", testbin.Options{Compiler: "clang-19"})
	counted := testbin.Build(t, "counted.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	truth := testbin.Truth(t, "gomp")
	args := fmt.Sprintf("%s %d %d", filepath.Base(bin), constructReps, constructN)
	recorded := func(way, mode string) string { return "/tmp/" + way + "-" + mode + "/profile.json.gz" }
	exe := guestTool(t, "amd64", t.TempDir())
	for _, k := range []struct {
		kernel string
		modes  map[string]string // by the name that --attach-mode has: the profile's
	}{
		{"6.1", map[string]string{"perf": "perf_event uprobes"}},
		{"6.12", map[string]string{"perf": "perf_event uprobes", "multi": "uprobe.multi"}},
	} {
		t.Run("kernel "+k.kernel, func(t *testing.T) {
			t.Parallel()
			script := "set -e; export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive\nexec 2>&1\n" +
				"TRUTH_OUT=/tmp/truth TRUTH_BODIES=1 LD_PRELOAD=/bin/" + filepath.Base(truth) + " " + args + "\n" + fromGuest("/tmp/truth")
			for mode := range k.modes {
				script += "ompp-attach run -q -o /tmp/run-" + mode + " --attach-mode " + mode + " -- " + args + "\n" +
					filepath.Base(longrun) + " 600 & p=$!\n" +
					"until grep -q libomp /proc/$p/maps; do sleep 0.1; done\n" +
					"ompp-attach attach -q -o /tmp/attach-" + mode + " --attach-mode " + mode + " --pid $p -d 3s\n" +
					"kill -0 $p; kill $p\n" + // it goes on as before
					fromGuest(recorded("run", mode)) + fromGuest(recorded("attach", mode))
			}
			if k.kernel == "6.12" {
				script += withoutUnit()
			}
			out := guestOf(t, []string{"-a", "amd64", "-k", k.kernel}, script, exe, bin, truth, longrun, counted)
			if k.kernel == "6.12" {
				checkWithoutUnit(t, out)
			}
			counts, err := testbin.ParseCounts(bytes.NewReader(guestFile(t, out, "/tmp/truth")))
			if err != nil {
				t.Fatal(err)
			}
			for mode, name := range k.modes {
				read := func(way string) *profile.Profile {
					p, err := profile.Decode(bytes.NewReader(guestFile(t, out, recorded(way, mode))))
					if err != nil {
						t.Fatal(err)
					}
					if p.Meta.Arch != "x86_64" || !strings.HasPrefix(p.Meta.Kernel, k.kernel+".") {
						t.Errorf("measured on %s %s", p.Meta.Arch, p.Meta.Kernel)
					}
					if p.Meta.Overhead == nil || p.Meta.Overhead.Mode != name {
						t.Errorf("%s, mode %s: probed by %+v, want %s", way, mode, p.Meta.Overhead, name)
					}
					balanced(t, p)
					return p
				}
				launched := read("run")
				complete(t, launched)
				compare(t, gompChecks(launched, counts, true))

				attached := read("attach")
				regions, criticals := count(attached, execC, parallel), count(attached, execC, is(event.Critical))
				for th := range threads {
					// Each execution of the region has one. What was under way at the beginning or
					// the end has one or none.
					if n := criticals[th]; n == 0 || max(n, regions[th])-min(n, regions[th]) > 1 {
						t.Errorf("attach, mode %s, thread %d: %d criticals in %d regions", mode, th, n, regions[th])
					}
				}
				if m := attached.Meta; m.LostHits != 0 {
					t.Errorf("attach, mode %s: %d hits lost", mode, m.LostHits)
				}
			}
		})
	}
}

// TestGuestOldKernel: what is too old for probes with cookies is told so in one sentence,
// and the program is not run.
func TestGuestOldKernel(t *testing.T) {
	atOnce(t)
	needGuest86(t)
	exe := guestTool(t, "amd64", t.TempDir())
	longrun := testbin.Build(t, "longrun.c", testbin.Options{})
	name := filepath.Base(longrun)
	out := guestOf(t, []string{"-a", "amd64", "-k", "5.10"}, "exec 2>&1\n"+
		"echo BEGIN; ompp-attach run -- sh -c 'echo started'; echo STATUS $?\n"+
		name+" 600 & echo BEGIN; ompp-attach attach --pid $!; echo STATUS $?; kill $!; ls -d /tmp/ompp*; true\n", exe, longrun)
	for _, told := range strings.Split(out, "BEGIN\n")[1:] {
		told, status, _ := strings.Cut(told, "STATUS ")
		if strings.Count(told, "\n") != 1 || !strings.Contains(told, "is too old") || !strings.Contains(told, "5.15") || !strings.HasPrefix(status, "1\n") {
			t.Errorf("told on 5.10, status %.3s:\n%s", status, told)
		}
	}
	if strings.Count(out, "BEGIN\n") != 2 || strings.Contains(out, "started") || strings.Contains(out, "/tmp/ompp-") {
		t.Errorf("the guest's output:\n%s", out)
	}
}
