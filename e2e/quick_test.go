package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// code is what the large program consists of: plausible instructions, of
// which one in thirty bytes is a call.
var code = []byte("\x8b\x43\x08" + // mov 8(%rbx),%eax
	"\x85\xc0\x74\x05" + // test %eax,%eax; je over the call
	"\xe8\x00\x00\x10\x00" +
	"\xf2\x0f\x10\x43\x10\xf2\x0f\x58\xc0" + // movsd 16(%rbx),%xmm0; addsd %xmm0,%xmm0
	"\x48\x8b\x5b\x18\x48\x8d\x7b\x20") // mov 24(%rbx),%rbx; lea 32(%rbx),%rdi

// buildLarge compiles longrun.c into a program of some mb megabytes, two
// thirds of which are code in functions of 1 KiB with symbols and unwind
// information.
func buildLarge(t *testing.T, dir string, mb int) string {
	t.Helper()
	body := filepath.Join(dir, "body.bin")
	if err := os.WriteFile(body, append(bytes.Repeat(code, 1024/len(code)), 0xc3), 0o644); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "blob.S")
	text := fmt.Sprintf(`	.text
	.macro function
	.globl blob_\@
	.type blob_\@, @function
blob_\@:
	.cfi_startproc
	.incbin "%s"
	.cfi_endproc
	.size blob_\@, .-blob_\@
	.endm
	.rept %d
	function
	.endr
	.section .rodata
	.fill %d, 1, 0x5a
	.section .note.GNU-stack,"",@progbits
`, body, mb*650, mb<<20/3)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "large")
	longrun := filepath.Join(testbin.Repo(t), "testdata", "programs", "longrun.c")
	if out, err := exec.Command("gcc", "-O2", "-g", "-fopenmp", "-o", bin, longrun, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// buildLibraries makes n libraries and returns their paths.
func buildLibraries(t *testing.T, dir string, n int) (libs []string) {
	t.Helper()
	var c strings.Builder
	c.WriteString("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
	for i := range 300 {
		fmt.Fprintf(&c, "int quick_%d(int a) { char *p = malloc(a + %d); memset(p, 1, a); puts(p); free(p); return a; }\n", i, i)
	}
	source, lib := filepath.Join(dir, "lib.c"), filepath.Join(dir, "lib.so")
	if err := os.WriteFile(source, []byte(c.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-fPIC", "-shared", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n { // copies: the tool looks at a file once
		lib := filepath.Join(dir, fmt.Sprintf("lib%d.so", i))
		if err := os.WriteFile(lib, b, 0o755); err != nil {
			t.Fatal(err)
		}
		libs = append(libs, lib)
	}
	return libs
}

// Attaching must not read the whole of what a large program maps. What it
// takes is told in processor time, which a busy machine changes least.
func TestAttachQuickly(t *testing.T) {
	needTool(t)
	const limit = time.Second // several times what it takes
	libs, mb := 500, 300
	if testing.Short() {
		libs, mb = 50, 30
	}
	dir := t.TempDir()
	bin := buildLarge(t, dir, mb)
	preload := "LD_PRELOAD=" + strings.Join(buildLibraries(t, dir, libs), ":")
	for _, p := range []struct{ name, bin, env string }{
		{"small program", testbin.Build(t, "longrun.c", testbin.Options{}), "LD_PRELOAD="},
		{fmt.Sprintf("%d MB, %d libraries", mb, libs), bin, preload},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Setenv("LD_PRELOAD", "") // not for the tool
			target := exec.Command(p.bin, "60")
			target.Env = append(os.Environ(), p.env)
			if err := target.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = target.Process.Kill()
				_ = target.Wait()
			}()
			time.Sleep(2 * time.Second) // until all is loaded
			var cpu, wall []time.Duration
			for range 3 {
				c, w := attachTime(t, target.Process.Pid)
				cpu, wall = append(cpu, c), append(wall, w)
			}
			slices.Sort(cpu)
			slices.Sort(wall)
			t.Logf("until the probes are in place: %s of processor time, %s (medians of %d)", cpu[1], wall[1], len(cpu))
			if cpu[1] > limit {
				t.Errorf("attaching takes %s of processor time, the limit is %s", cpu[1], limit)
			}
		})
	}
}

// attachTime attaches for a moment and returns what that took of processor time
// and of time until the probes were in place.
func attachTime(t *testing.T, pid int) (cpu, wall time.Duration) {
	t.Helper()
	cmd := exec.Command(tool, "attach", "--pid", strconv.Itoa(pid), "--duration", "200ms", "-o", filepath.Join(t.TempDir(), "out"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "attached to process") {
			wall, cpu = time.Since(began), cpuOf(t, cmd.Process.Pid)
		}
	}
	if err := cmd.Wait(); err != nil || wall == 0 {
		t.Fatalf("%v\n%s", err, strings.Join(said, "\n"))
	}
	return cpu, wall
}

// cpuOf returns the processor time that a process has used (proc_pid_stat(5):
// fields 14 and 15, in hundredths of a second).
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	if err1 != nil || err2 != nil {
		t.Fatalf("%s", b)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
