package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// The emulated arm64 machine of scripts/guest.sh: another architecture, two other
// kernels (6.1: probes one by one; 6.12: all in one go), and a hardware unit.

// needGuest skips where the machine cannot be emulated.
func needGuest(t *testing.T) {
	t.Helper()
	for _, c := range []string{"qemu-system-aarch64", "cpio", "dpkg-deb", crossGCC} {
		if _, err := exec.LookPath(c); err != nil {
			t.Skipf("%s is not installed (scripts/deps.sh pmu)", c)
		}
	}
}

const crossGCC = "aarch64-linux-gnu-gcc-12"

// guestTool builds the tool for a guest. For a guest of this machine's architecture there is one.
func guestTool(t *testing.T, arch, dir string) string {
	t.Helper()
	if arch == runtime.GOARCH {
		return tool
	}
	out := filepath.Join(dir, "ompp-attach")
	// The linters have compiled it so.
	cmd := exec.Command("go", "build", "-pgo=off", "-o", out, "ompp-attach/cmd/ompp-attach")
	cmd.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building for %s: %v\n%s", arch, err, msg)
	}
	return out
}

// cross compiles for the guest.
func cross(t *testing.T, out string, args ...string) string {
	t.Helper()
	if msg, err := exec.Command(crossGCC, append(args, "-o", out)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", crossGCC, args, err, msg)
	}
	return out
}

// beside names a file in the folder of another.
func beside(file, name string) string { return filepath.Join(filepath.Dir(file), name) }

// guestOf runs a script in the guest that flags of scripts/guest.sh ask for.
func guestOf(t *testing.T, flags []string, script string, files ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(testbin.Repo(t), "scripts", "guest.sh"), slices.Concat(flags, []string{script}, files)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the guest %v: %v\n%s%s", flags, err, errs.Bytes(), out)
	}
	return string(out)
}

// fromGuest makes a script line that prints a file, for guestFile.
func fromGuest(file string) string {
	return fmt.Sprintf("echo BEGIN %[1]s; base64 %[1]s; echo END %[1]s\n", file)
}

// guestFile finds a file in what a guest printed.
func guestFile(t *testing.T, printed, file string) []byte {
	t.Helper()
	_, rest, ok1 := strings.Cut(printed, "BEGIN "+file+"\n")
	text, _, ok2 := strings.Cut(rest, "END "+file+"\n")
	b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
	if !ok1 || !ok2 || err != nil {
		t.Fatalf("the guest printed no %s (%v):\n%s", file, err, printed)
	}
	return b
}

// guestPart is what one of several tests does in an emulated machine that they share: starting one
// takes as long as most tests.
type guestPart struct {
	name   string
	script string // runs in a shell of its own
	files  []string
	check  func(t *testing.T, out string) // gets what the script printed
}

// share runs parts in one guest and checks each.
func share(t *testing.T, flags []string, parts ...guestPart) {
	t.Helper()
	var script strings.Builder
	var files []string
	for _, p := range parts {
		fmt.Fprintf(&script, "echo PART %[1]s\n(\nexec 2>&1\n%[2]s\n)\necho STATUS %[1]s $?\n", p.name, p.script)
		files = append(files, p.files...)
	}
	slices.Sort(files)
	out := guestOf(t, flags, script.String(), slices.Compact(files)...)
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			_, rest, ok1 := strings.Cut(out, "PART "+p.name+"\n")
			own, status, ok2 := strings.Cut(rest, "STATUS "+p.name+" ")
			if !ok1 || !ok2 || !strings.HasPrefix(status, "0\n") {
				t.Fatalf("its script failed, status %.3s:\n%s", status, own)
			}
			p.check(t, own)
		})
	}
}

// TestGuestArm64: counts, samples and counters on another architecture, with a hardware unit and
// older kernels.
func TestGuestArm64(t *testing.T) {
	atOnce(t) // a guest takes one core, and its time is its own
	if testing.Short() {
		t.Skip("emulating a machine takes a minute")
	}
	needGuest(t)
	exe := guestTool(t, "arm64", t.TempDir())
	parts := func(kernel string) []guestPart {
		return []guestPart{guestCounts(t, exe, kernel), guestSamples(t, exe, kernel), guestCounters(t, exe, kernel)}
	}
	for kernel, of := range map[string][]guestPart{"6.1": parts("6.1"), "6.12": parts("6.12")} {
		t.Run("kernel "+kernel, func(t *testing.T) {
			t.Parallel()
			share(t, []string{"-k", kernel}, of...)
		})
	}
}

// guestCounts: the counts of every construct equal those of the library that counts along.
func guestCounts(t *testing.T, exe, kernel string) guestPart {
	repo := testbin.Repo(t)
	const threads = 2
	bin := cross(t, beside(exe, "constructs"), "-O2", "-g", "-fopenmp", filepath.Join(repo, "testdata", "programs", "constructs.c"))
	truth := cross(t, beside(exe, "truth.so"), "-O2", "-fPIC", "-shared", filepath.Join(repo, "testdata", "truth", "gomp_truth.c"))
	args := fmt.Sprintf("constructs %d %d", constructReps, constructN)
	script := "set -e; export OMP_NUM_THREADS=" + strconv.Itoa(threads) + "\n" +
		"TRUTH_OUT=/tmp/truth TRUTH_BODIES=1 LD_PRELOAD=/bin/truth.so " + args + "\n" +
		"ompp-attach run -q -o /tmp/d -- " + args + "\n" +
		fromGuest("/tmp/truth") + fromGuest("/tmp/d/profile.json.gz")
	return guestPart{"counts", script, []string{exe, bin, truth}, func(t *testing.T, out string) {
		counts, err := testbin.ParseCounts(bytes.NewReader(guestFile(t, out, "/tmp/truth")))
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Decode(bytes.NewReader(guestFile(t, out, "/tmp/d/profile.json.gz")))
		if err != nil {
			t.Fatal(err)
		}
		if p.Meta.Arch != "aarch64" || !strings.HasPrefix(p.Meta.Kernel, kernel+".") {
			t.Errorf("measured on %s %s", p.Meta.Arch, p.Meta.Kernel)
		}
		complete(t, p)
		balanced(t, p)
		compare(t, gompChecks(p, counts, true))
		if t.Failed() {
			t.Logf("profile:\n%s", dump(p))
		}
	}}
}
