package unwind

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// stopped is a process that waits to be examined. It has printed its registers and its return
// addresses (the innermost first).
type stopped struct {
	pid     int
	entry   Entry
	rbx     uint64
	truth   []uint64
	modules []symbols.Module
	mem     *os.File
}

// build compiles a program of testdata.
func build(t *testing.T, command ...string) (bin string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip(err)
	}
	bin = filepath.Join(t.TempDir(), "a.out")
	compile(t, bin, command...)
	return bin
}

func compile(t *testing.T, bin string, command ...string) {
	t.Helper()
	if out, err := exec.Command(command[0], append(command[1:], "-o", bin)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}

// runTo runs a program up to the place where it waits.
func runTo(t *testing.T, bin string, args ...string) *stopped {
	t.Helper()
	cmd := exec.Command(bin, args...)
	in, out := testbin.Talk(t, cmd)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	s := &stopped{pid: cmd.Process.Pid}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		name, v := "", uint64(0)
		if _, err := fmt.Sscanf(lines.Text(), "%s %v", &name, &v); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		switch name {
		case "pc":
			s.entry.PC = v
		case "rsp":
			s.entry.SP = v
		case "rbp":
			s.entry.FP = v
		case "rbx":
			s.rbx = v
		case "ret":
			s.truth = append(s.truth, v)
		case "end":
			var err error
			if s.modules, err = symbols.Modules(s.pid); err != nil {
				t.Fatal(err)
			}
			if s.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", s.pid)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.mem.Close() })
			return s
		}
	}
	t.Fatal("ended early")
	return nil
}

func (s *stopped) read(addr uint64) (uint64, bool) {
	var b [8]byte
	_, err := s.mem.ReadAt(b[:], int64(addr))
	return binary.LittleEndian.Uint64(b[:]), err == nil
}

// unwind returns the return addresses up to the outermost frame.
func (s *stopped) unwind(t *testing.T) (all []uint64) {
	t.Helper()
	regs := Registers{PC: s.entry.PC}
	regs.Set(AMD64RSP, s.entry.SP)
	regs.Set(AMD64RBP, s.entry.FP)
	regs.Set(AMD64RBX, s.rbx)
	whole, left := []uint64{regs.PC}, false
	for in := regs.PC; len(all) < 1000; {
		m, found := symbols.Find(s.modules, in)
		if !found {
			t.Fatalf("%#x is in no module, after %#x", in, all)
		}
		var ok bool
		if regs, ok = For(m.Object()).Step(m.VAddr(in), regs, s.read); !ok {
			t.Fatalf("no step from %s+%#x, after %#x", m.Path, m.VAddr(in), all)
		}
		if regs.PC == 0 {
			s.follow(t, whole, !left)
			return all
		}
		all = append(all, regs.PC)
		sp, _ := regs.Get(AMD64RSP)
		if in = regs.PC; !regs.Interrupted {
			in--
		}
		if !left {
			whole = append(whole, in+1)
		}
		// A signal's handler may run on a stack of its own. A copy of that stack tells the place
		// that was interrupted, and no more.
		left = left || sp-s.entry.SP > copied
	}
	return all
}

// copied is the most bytes of a stack that are copied.
const copied = 1 << 20

// follow unwinds the stack in the way of a sampled thread: from a copy in which the kernel's
// trampoline has replaced some return addresses.
func (s *stopped) follow(t *testing.T, want []uint64, whole bool) {
	t.Helper()
	th := Thread{PC: s.entry.PC, Reg: make([]uint64, 8), Trampoline: 0x7fffffffe000}
	th.Reg[AMD64RBX], th.Reg[AMD64RBP], th.Reg[AMD64RSP] = s.rbx, s.entry.FP, s.entry.SP
	for at := s.entry.SP; len(th.Stack) < copied; at += 8 {
		v, ok := s.read(at)
		if !ok {
			break
		}
		th.Stack = binary.LittleEndian.AppendUint64(th.Stack, v)
	}
	if got, complete := Stack(s.modules, &th, nil); complete != whole || !slices.Equal(got, want) {
		t.Fatalf("stack %#x, complete: %t; want %#x", got, complete, want)
	}
	returned := th
	returned.PC, returned.Returns = th.Trampoline, []uint64{want[0]}
	if got, complete := Stack(s.modules, &returned, nil); complete != whole || !slices.Equal(got, want) {
		t.Fatalf("at the trampoline: stack %#x, complete: %t; want %#x", got, complete, want)
	}
	for i := 0; i+8 <= len(th.Stack) && len(th.Returns) < 2; i += 8 {
		if v := binary.LittleEndian.Uint64(th.Stack[i:]); v == want[len(th.Returns)+1] {
			th.Returns = append(th.Returns, v)
			binary.LittleEndian.PutUint64(th.Stack[i:], th.Trampoline)
		}
	}
	if got, complete := Stack(s.modules, &th, nil); complete != whole || !slices.Equal(got, want) {
		t.Fatalf("with trampolines: stack %#x, complete: %t; want %#x", got, complete, want)
	}
	th.Returns = th.Returns[:1] // there are more return probes than fit
	if got, complete := Stack(s.modules, &th, nil); complete || !slices.Equal(got, want[:2]) {
		t.Errorf("without one of them: stack %#x, complete: %t", got, complete)
	}
	th.Stack = th.Stack[:64]
	if _, complete := Stack(s.modules, &th, nil); complete {
		t.Error("a stack of which most is missing is complete")
	}
}

// TestFramesOfAllShapes: the frames have all shapes: with and without frame pointers, of variable
// size, realigned, with arguments on the stack, and of a signal handler. The program itself notes
// the return address of each of its functions.
func TestFramesOfAllShapes(t *testing.T) {
	if arch := hostArch(t); arch != "amd64" {
		t.Skip("notes registers of amd64, not of " + arch)
	}
	for _, compiler := range []string{"gcc", "clang-14", "clang-19"} {
		for _, options := range []string{"-O0", "-O2", "-O3 -mavx2", "-O2 -fno-omit-frame-pointer", "-Os -fno-asynchronous-unwind-tables -g", "-O2 -static"} {
			t.Run(compiler+" "+options, func(t *testing.T) {
				t.Parallel()
				key := []string{"unwound", options, compiler, testbin.Version(t, compiler)}
				dir := testbin.Made(t, key, []string{"testdata/frames.c"}, func(dir string) {
					compile(t, filepath.Join(dir, "a.out"), slices.Concat([]string{compiler}, strings.Fields(options), []string{"testdata/frames.c"})...)
				})
				s := runTo(t, filepath.Join(dir, "a.out"))
				got := s.unwind(t)
				// Below main is the C library.
				if len(s.truth) < 40 || len(got) < len(s.truth) {
					t.Fatalf("%d frames, the program has %d", len(got), len(s.truth))
				}
				// The signal's frames are the library's own business: those of the
				// program must come in order.
				rest := got
				for i, want := range s.truth {
					at := slices.Index(rest, want)
					if at < 0 || at > 3 {
						t.Fatalf("frame %d: %#x is not next in %#x", i, want, rest)
					}
					rest = rest[at+1:]
				}
			})
		}
	}
}

func hostArch(t *testing.T) string {
	t.Helper()
	o, err := symbols.OpenObject("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	return o.Arch()
}
