// Package largebin makes what large programs consist of: an executable of
// hundreds of megabytes with hundreds of thousands of symbols, and hundreds of
// libraries. For tests and measurements only.
package largebin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// code is what the program consists of: plausible instructions, of which one in
// thirty bytes is a call.
var code = []byte("\x8b\x43\x08" + // mov 8(%rbx),%eax
	"\x85\xc0\x74\x05" + // test %eax,%eax; je over the call
	"\xe8\x00\x00\x10\x00" +
	"\xf2\x0f\x10\x43\x10\xf2\x0f\x58\xc0" + // movsd 16(%rbx),%xmm0; addsd %xmm0,%xmm0
	"\x48\x8b\x5b\x18\x48\x8d\x7b\x20") // mov 24(%rbx),%rbx; lea 32(%rbx),%rdi

// Program compiles a C program with OpenMP into one of some mb megabytes. Two thirds of these are
// code in functions of 1 KiB with symbols and unwind information. Two functions per megabyte call
// the runtime. The program runs as the source says.
func Program(dir, source string, mb int) (bin string, err error) {
	body := filepath.Join(dir, "body.bin")
	if err := os.WriteFile(body, append(bytes.Repeat(code, 1024/len(code)), 0xc3), 0o644); err != nil {
		return "", fmt.Errorf("large program: %w", err)
	}
	blob := filepath.Join(dir, "blob.S")
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
	if err := os.WriteFile(blob, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("large program: %w", err)
	}
	regions := filepath.Join(dir, "regions.c")
	if err := os.WriteFile(regions, regionsC(mb), 0o644); err != nil {
		return "", fmt.Errorf("large program: %w", err)
	}
	bin = filepath.Join(dir, "large")
	if out, err := exec.Command("gcc", "-O2", "-g", "-fopenmp", "-o", bin, source, blob, regions).CombinedOutput(); err != nil {
		return "", fmt.Errorf("large program: %w\n%s", err, out)
	}
	return bin, nil
}

// regionsC are n parallel loops and n dynamic loops, of which none is executed.
func regionsC(n int) []byte {
	var c bytes.Buffer
	for i := range n {
		fmt.Fprintf(&c, `void static_%[1]d(double *a, int n)
{
#pragma omp parallel
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] = a[i] * 3 + %[1]d;
#pragma omp master
		a[0] = %[1]d;
	}
}

void dynamic_%[1]d(double *a, int n)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < n; i++)
		a[i] += %[1]d;
}

`, i)
	}
	return c.Bytes()
}

// Libraries makes n libraries, of which every fiftieth uses OpenMP, and returns
// their paths.
func Libraries(dir string, n int) (libs []string, err error) {
	var plain strings.Builder
	plain.WriteString("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
	for i := range 300 {
		fmt.Fprintf(&plain, "int quick_%d(int a) { char *p = malloc(a + %d); memset(p, 1, a); puts(p); free(p); return a; }\n", i, i)
	}
	kinds := []struct {
		source string
		flags  []string
		b      []byte
	}{{source: plain.String()}, {source: string(regionsC(5)), flags: []string{"-fopenmp"}}}
	for k := range kinds {
		source, lib := filepath.Join(dir, "lib.c"), filepath.Join(dir, "lib.so")
		if err := os.WriteFile(source, []byte(kinds[k].source), 0o644); err != nil {
			return nil, fmt.Errorf("libraries: %w", err)
		}
		args := append([]string{"-O1", "-fPIC", "-shared", "-o", lib, source}, kinds[k].flags...)
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("libraries: %w\n%s", err, out)
		}
		if kinds[k].b, err = os.ReadFile(lib); err != nil {
			return nil, fmt.Errorf("libraries: %w", err)
		}
	}
	for i := range n { // copies: a file is looked at once
		kind := 0
		if i%50 == 25 {
			kind = 1
		}
		lib := filepath.Join(dir, fmt.Sprintf("lib%d.so", i))
		if err := os.WriteFile(lib, kinds[kind].b, 0o755); err != nil {
			return nil, fmt.Errorf("libraries: %w", err)
		}
		libs = append(libs, lib)
	}
	return libs, nil
}
