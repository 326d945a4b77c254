package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes/disasm"
)

// slotSize is that of the slots of testdata/programs/instructions.c.
const slotSize = 64

// slots are the instructions of a file for instructions.c. They are a disasm.Code.
type slots []byte

func (s slots) Arch() string                             { return "amd64" }
func (s slots) Symbol(string) []uint64                   { return nil }
func (s slots) FuncRange(uint64) (lo, hi uint64, b bool) { return 0, 0, false }
func (s slots) Read(at uint64, n int) []byte {
	if at > uint64(len(s)) || uint64(n) > uint64(len(s))-at {
		return nil
	}
	return s[at : at+uint64(n)]
}

// newSlots encodes the instructions: prefixes, opcode, operand. Those that Linux may probe by
// disasm are kept, each with a return behind it. The first slot is only a return: a probe's offset
// is not 0.
func newSlots(t *testing.T) slots {
	out := slots(bytes.Repeat([]byte{0xc3}, slotSize))
	add := func(prefixes []byte, op byte, operand ...byte) {
		s := slots(bytes.Repeat([]byte{0xc3}, slotSize))
		// The last byte may be an immediate operand.
		b := append(append(append(bytes.Clone(prefixes), op), operand...), 0x1b)
		copy(s, b)
		i, err := disasm.Decode(s, 0)
		if err != nil || i.Refused || i.Control != disasm.Other {
			return
		}
		for n := i.Len; n < len(b); n++ {
			s[n] = 0xc3
		}
		out = append(out, s...)
	}
	registers, memory, relative := []byte{0xc1}, []byte{0x07}, []byte{0x05, 0x20, 0, 0, 0}
	for opMap := range byte(3) {
		for pp := range byte(4) {
			for op := range 256 {
				vex := []byte{0xc4, 0xe1 + opMap, 0x78 + pp}
				add(vex, byte(op), registers...)
				add(vex, byte(op), memory...)
				add(vex, byte(op), relative...)
				add([]byte{0x62, 0xf1 + opMap, 0x7c + pp, 0x08}, byte(op), registers...)
			}
		}
	}
	for _, prefix := range [][]byte{nil, {0x66}, {0xf3}, {0xf2}} {
		for op := range 256 {
			for _, opMap := range []byte{0x38, 0x3a} {
				add(append(bytes.Clone(prefix), 0x0f, opMap), byte(op), registers...)
			}
			// The others of 0f are of the system, tell the time, or give random numbers.
			if op >= 0x10 && op <= 0x17 || op >= 0x28 && op <= 0x2f || op >= 0x40 && op <= 0x7f || op >= 0xc2 && op <= 0xc6 || op >= 0xd0 && op < 0xff {
				add(append(bytes.Clone(prefix), 0x0f), byte(op), registers...)
			}
		}
	}
	if n := bytes.Count(out, []byte{0xc4, 0xe1}); n < 200 {
		t.Fatalf("%d instructions with the prefix VEX only", n)
	}
	return out
}

// execute runs instructions.c, and returns what it prints of each slot.
func (s slots) execute(t *testing.T, bin, file string) (states []string) {
	t.Helper()
	b, err := exec.Command(bin, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		_, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		states = append(states, state)
	}
	if len(states) != len(s)/slotSize {
		t.Fatalf("%d states of %d slots", len(states), len(s)/slotSize)
	}
	return states
}

// An instruction that may be probed does with a probe what it does without. The processor is the
// truth, for AVX, AVX-512, SSE and other extensions. The kernel accepts all these probes.
func TestProbedInstructions(t *testing.T) {
	atOnce(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("instructions of amd64")
	}
	bin := testbin.Build(t, "instructions.c", testbin.Options{Flags: []string{"-O1"}})
	path := filepath.Join(t.TempDir(), "code")
	all, known := newSlots(t), slots(bytes.Repeat([]byte{0xc3}, slotSize))
	testbin.Executable(t, path, all)
	ill := fmt.Sprintf("%d ", unix.SIGILL)
	for n, state := range all.execute(t, bin, path) {
		if n > 0 && !strings.HasPrefix(state, ill) { // the processor has this one
			known = append(known, all[n*slotSize:(n+1)*slotSize]...)
		}
	}
	path = filepath.Join(t.TempDir(), "code")
	testbin.Executable(t, path, known)
	want := known.execute(t, bin, path)

	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The kernel looks at the instructions of files that a process maps.
	mapped, err := unix.Mmap(int(f.Fd()), 0, len(known), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	var points []bpf.Point
	for n := 1; n < len(want); n++ {
		points = append(points, bpf.Point{Offset: uint64(n * slotSize), Row: uint32(n)})
	}
	count, err := bpf.LoadHitCounter(len(want), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer count.Close()
	link, err := count.Attach(path, 0, points)
	if err != nil {
		t.Fatal(err)
	}
	got := known.execute(t, bin, path)
	if err := link.Close(); err != nil {
		t.Error(err)
	}
	for n := 1; n < len(want); n++ {
		hits, err := count.Hits(uint32(n))
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for _, h := range hits {
			sum += h
		}
		if got[n] != want[n] || sum != 1 {
			i, _ := disasm.Decode(known, uint64(n*slotSize))
			t.Errorf("% x (%s): with a probe, hit %d times, it leaves %s; without %s", i.Bytes, i.Text(), sum, got[n], want[n])
		}
	}
	t.Logf("%d instructions probed", len(points))
}
