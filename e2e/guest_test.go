package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// guestTool builds the tool for a guest.
func guestTool(t *testing.T, arch, dir string) string {
	t.Helper()
	out := filepath.Join(dir, "ompp-attach")
	cmd := exec.Command("go", "build", "-o", out, "ompp-attach/cmd/ompp-attach")
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

// guest runs a script in an arm64 guest of a kernel, with files, and returns what it
// printed.
func guest(t *testing.T, kernel, cpu, script string, files ...string) string {
	t.Helper()
	return guestOf(t, []string{"-k", kernel, "-c", cpu}, script, files...)
}

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

// TestGuestCounts: the counts of every construct, on another architecture and
// older kernels, equal those of the library that counts along.
func TestGuestCounts(t *testing.T) {
	t.Parallel() // with each other: a guest takes one core, and its time is its own
	if testing.Short() {
		t.Skip("emulating a machine takes a minute")
	}
	needGuest(t)
	dir, repo := t.TempDir(), testbin.Repo(t)
	const threads = 2
	bin := cross(t, filepath.Join(dir, "constructs"), "-O2", "-g", "-fopenmp", filepath.Join(repo, "testdata", "programs", "constructs.c"))
	truth := cross(t, filepath.Join(dir, "truth.so"), "-O2", "-fPIC", "-shared", filepath.Join(repo, "testdata", "truth", "gomp_truth.c"))
	args := fmt.Sprintf("constructs %d %d", constructReps, constructN)
	script := "set -e; export OMP_NUM_THREADS=" + strconv.Itoa(threads) + "\n" +
		"TRUTH_OUT=/tmp/truth TRUTH_BODIES=1 LD_PRELOAD=/bin/truth.so " + args + "\n" +
		"ompp-attach run -q -o /tmp/d -- " + args + "\n" +
		fromGuest("/tmp/truth") + fromGuest("/tmp/d/profile.json.gz")
	exe := guestTool(t, "arm64", dir)
	for _, kernel := range []string{"6.1", "6.12"} {
		t.Run("kernel "+kernel, func(t *testing.T) {
			t.Parallel()
			out := guest(t, kernel, "cortex-a57", script, exe, bin, truth)
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
		})
	}
}
