package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/preflight"
	"ompp-attach/symbols"
)

// elf32 is the smallest 32-bit program header that a loader would take.
func elf32() []byte {
	h := elf.Header32{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_386), Version: 1, Entry: 0x8048000, Phoff: 52, Ehsize: 52, Phentsize: 32}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), 1
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, h)
	return b.Bytes()
}

func TestCheckExecutable(t *testing.T) {
	foreign := elf32()
	foreign[elf.EI_CLASS], foreign[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2MSB)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		contents []byte
		words    []string
	}{
		{"32 bits", elf32(), []string{"process 7 (/bin/x)", "32-bit", "64 bits"}},
		{"big-endian", foreign, []string{"process 7 (/bin/x)", "processor"}},
		{"no ELF", []byte("#!/bin/sh\n"), []string{"process 7 (/bin/x)", "cannot be read"}},
		{"our own kind", good, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(name, tc.contents, 0o755); err != nil {
				t.Fatal(err)
			}
			wantSentence(t, checkExecutable(preflight.Process{PID: 7, Name: "x"}, "/bin/x", name), tc.words)
		})
	}
}

// wantSentence wants an *AttachError of one line with the given words; no
// error if there are none.
func wantSentence(t *testing.T, err error, words []string) {
	t.Helper()
	if len(words) == 0 {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	var ae *AttachError
	if !errors.As(err, &ae) {
		t.Fatalf("%v is no *AttachError", err)
	}
	if strings.Contains(ae.Sentence, "\n") {
		t.Errorf("%q has several lines", ae.Sentence)
	}
	for _, w := range words {
		if !strings.Contains(ae.Sentence, w) {
			t.Errorf("%q lacks %q", ae.Sentence, w)
		}
	}
}

func TestCheckTargetRefuses(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pid   int
		words []string
	}{
		{"zero", 0, []string{"0 is no process id"}},
		{"negative", -5, []string{"-5 is no process id"}},
		{"ourselves", os.Getpid(), []string{"ompp-attach itself"}},
		// PID_MAX_LIMIT is 2^22
		{"beyond every pid", 1 << 30, []string{"there is no process 1073741824"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Check(tc.pid)
			wantSentence(t, err, tc.words)
			_, err = Inspect(tc.pid)
			wantSentence(t, err, tc.words)
		})
	}
}

func TestNoRuntimeSentence(t *testing.T) {
	for _, tc := range []struct {
		name  string
		found found
		words []string
		not   string
	}{
		{"dynamic", found{libs: []string{"/lib/libc.so.6"}}, []string{"process 9 (/p)", "maps 1 library,", "libgomp, libomp or libiomp5", "check --pid 9"}, "static"},
		{"threads and MPI", found{libs: []string{"/lib/libc.so.6", "/lib/libpthread.so.0", "/lib/libmpi.so.40"}},
			[]string{"maps 3 libraries (libpthread.so.0, libmpi.so.40 among them)"}, "libc.so"},
		{"a libgomp without entry points", found{libs: []string{"/opt/libgomp.so.1"}}, []string{"maps /opt/libgomp.so.1, but", "entry points"}, ""},
		{"offloading library is no runtime", found{libs: []string{"/opt/libomptarget.so.19"}}, []string{"maps 1 library"}, "entry points"},
		{"replaced", found{libs: []string{"/lib/libc.so.6"}, unread: "/opt/libgomp.so.1"}, []string{"/opt/libgomp.so.1", "replaced", "CAP_CHECKPOINT_RESTORE"}, "no OpenMP"},
		{"static", found{static: true}, []string{"statically linked", "check --pid 9"}, "stripped"},
		{"static and stripped", found{static: true, stripped: true, marked: true}, []string{"statically linked and stripped", "seems to hold", "no strip"}, "check"},
		{"static and stripped, no runtime", found{static: true, stripped: true}, []string{"statically linked and stripped", "if it uses OpenMP"}, "seems"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.found.exe = "/p"
			got := tc.found.sentence(9)
			wantSentence(t, &AttachError{got}, tc.words)
			if tc.not != "" && strings.Contains(got, tc.not) {
				t.Errorf("%q speaks of %q", got, tc.not)
			}
		})
	}
}

func TestUnreadRuntime(t *testing.T) {
	const maps = "00400000-00401000 r-xp 00000000 08:01 10 /bin/p\n" +
		"7f00-7f10 r-xp 00000000 08:01 11                         /opt/my libs/libgomp.so.1.0.0 (deleted)\n" +
		"7f20-7f30 rw-p 00000000 00:00 0 \n" +
		"7f30-7f40 rw-p 00000000 00:00 0                          [heap]\n" +
		"7f40-7f50 r-xp 00000000 08:01 12                         /lib/libc.so.6\n"
	if got := unreadRuntime(maps, []string{"/lib/libc.so.6"}); got != "/opt/my libs/libgomp.so.1.0.0" {
		t.Errorf("%q", got)
	}
	if got := unreadRuntime(maps, []string{"/opt/my libs/libgomp.so.1.0.0"}); got != "" {
		t.Errorf("%q was read", got)
	}
}

func TestContainsText(t *testing.T) {
	static := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-static", "-s"}})
	dynamic := testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true})
	if !containsText(static, runtimeMark) || containsText(dynamic, runtimeMark) {
		t.Error("the runtime's mark is not found where it is, or found where it is not")
	}
}

func TestContainsTextAcrossReads(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	b := append(bytes.Repeat([]byte("."), 1<<20-5), "OMP_NUM_THREADS"...)
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if !containsText(name, "OMP_NUM_THREADS") || containsText(name, "OMP_NUM_THREADS?") {
		t.Error("wrong at the border of two reads")
	}
}

// A process that is still loading its libraries is looked at again.
func TestLoads(t *testing.T) {
	for _, c := range []struct {
		what   string
		lists  []string // later ones; a letter is a module, g can be probed
		looked int
		want   bool
	}{
		{"all was there", []string{"ab"}, 1, false},
		{"the runtime is next", []string{"abg"}, 1, true},
		{"another library is next", []string{"abc", "abcg"}, 2, true},
		{"other libraries only", []string{"abc", "abcd", "abcd"}, 3, false},
		{"the process ends", nil, 1, false},
	} {
		looked := 0
		list := func() (mods []symbols.Module, err error) {
			if looked++; looked > len(c.lists) {
				return nil, os.ErrNotExist
			}
			for _, l := range c.lists[looked-1] {
				mods = append(mods, symbols.Module{Path: string(l)})
			}
			return mods, nil
		}
		got := loads(2, list, func(m symbols.Module) bool { return m.Path == "g" })
		if got != c.want || looked != c.looked {
			t.Errorf("%s: %t, looked %d times", c.what, got, looked)
		}
	}
}
