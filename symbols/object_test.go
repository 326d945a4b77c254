package symbols

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestObjectKinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		args     []string
		pie      bool
		dynamic  bool
		stripped bool
		dwarf    bool
	}{
		{"pie", []string{"-g", "-pie", "-fPIE"}, true, true, false, true},
		{"fixed", []string{"-g", "-no-pie", "-fno-pie"}, false, true, false, true},
		{"static", []string{"-g", "-static", "-no-pie"}, false, false, false, true},
		{"static pie", []string{"-static-pie", "-fPIE"}, true, false, false, false},
		{"shared", []string{"-shared", "-fPIC"}, false, true, false, false},
		{"stripped", []string{"-s", "-pie", "-fPIE"}, true, true, true, false},
		{"no line information", []string{"-pie", "-fPIE"}, true, true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append(slices.Clone(tt.args), "-O1", "-Wl,--build-id=0x0123456789abcdef", "testdata/data.c")
			o := open(t, compile(t, "gcc", args...))
			if o.IsPIE() != tt.pie || o.Stripped() != tt.stripped || o.HasDWARF() != tt.dwarf {
				t.Errorf("PIE %t, stripped %t, DWARF %t, want %t, %t, %t", o.IsPIE(), o.Stripped(), o.HasDWARF(), tt.pie, tt.stripped, tt.dwarf)
			}
			if got := o.BuildID(); got != "0123456789abcdef" {
				t.Errorf("build id %q", got)
			}
			if got := o.Interpreter() != ""; got != (tt.dynamic && tt.name != "shared") {
				t.Errorf("interpreter %q", o.Interpreter())
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	elf := func(class, data byte) []byte {
		b := make([]byte, 64)
		copy(b, "\x7fELF")
		b[4], b[5], b[6] = class, data, 1
		b[16], b[18], b[20], b[52] = 2, 8, 1, 64 // a MIPS program without contents
		return b
	}
	tests := []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrNotELF},
		{"short", []byte("\x7fELF"), ErrNotELF},
		{"script", []byte("#!/bin/sh\nexit 0\n"), ErrNotELF},
		{"32-bit", elf(1, 1), Err32Bit},
		{"big-endian", elf(2, 2), ErrUnsupported},
		{"other machine", elf(2, 1), ErrUnsupported},
	}
	for _, tt := range tests {
		if _, err := NewObject(bytes.NewReader(tt.file), int64(len(tt.file))); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := OpenObject(t.TempDir()); !errors.Is(err, ErrNotELF) {
		t.Errorf("directory: %v", err)
	}
	if _, err := OpenObject("/nonexistent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := OpenObject(compile(t, "gcc", "-c", "testdata/data.c")); !errors.Is(err, ErrUnsupported) {
		t.Errorf("relocatable object: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"-pie", "-no-pie"} {
		path := compile(t, "gcc", "-O1", mode, "-fPIE", "testdata/data.c")
		o := open(t, path)
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		main := o.Symbol("main")
		if len(main) != 1 {
			t.Fatalf("%s: main at %x", mode, main)
		}
		off, ok := o.FileOffset(main[0])
		if back, ok2 := o.VAddr(off); !ok || !ok2 || back != main[0] {
			t.Errorf("%s: main %#x, offset %#x, back %#x", mode, main[0], off, back)
		}
		if got := o.Read(main[0], 16); !bytes.Equal(got, file[off:off+16]) {
			t.Errorf("%s: read %x at main", mode, got)
		}
		if !slices.ContainsFunc(o.TextRanges(), func(r Range) bool { return r.Contains(main[0]) }) {
			t.Errorf("%s: main %#x not in %x", mode, main[0], o.TextRanges())
		}
		zero, ok := o.DataSymbol("outside_size")
		if !ok || len(o.Read(zero, 4)) != 0 {
			t.Errorf("%s: zero-filled data %#x, %t read from file", mode, zero, ok)
		}
		if name, ok := o.DataAt(zero + 3); !ok || name != "outside_size" {
			t.Errorf("%s: datum %q, %t", mode, name, ok)
		}
	}
}

func TestBuildIDNote(t *testing.T) {
	// Another note first.
	note, _ := hex.DecodeString("04000000" + "02000000" + "01000000" + "474e5500" + "aaaa0000" +
		"04000000" + "03000000" + "03000000" + "474e5500" + "abcdef00")
	if got := buildID(note); got != "abcdef" {
		t.Errorf("build id %q", got)
	}
}

func TestDebugFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		build []string
		place func(dir, id string) string // of the debug file, below dir
		flags []string                    // for objcopy
	}{
		{"link, same directory", []string{"-Wl,--build-id=none"}, func(string, string) string { return "prog.debug" }, nil},
		{"link, .debug", nil, func(string, string) string { return ".debug/prog.debug" }, nil},
		{"link, compressed", nil, func(string, string) string { return "prog.debug" }, []string{"--compress-debug-sections=zlib"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			full := compile(t, "gcc", append(tt.build, "-g", "-O1", "testdata/data.c")...)
			dir := filepath.Dir(full)
			whole := open(t, full)
			main := whole.Symbol("main")[0]
			local := whole.Symbol("local1")[0]
			file, line, _, _ := whole.Line(main)
			if line == 0 {
				t.Fatal("no line before stripping")
			}
			debug := filepath.Join(dir, tt.place(dir, whole.BuildID()))
			if err := os.MkdirAll(filepath.Dir(debug), 0o755); err != nil {
				t.Fatal(err)
			}
			run(t, "objcopy", append(append([]string{"--only-keep-debug"}, tt.flags...), full, debug)...)
			bare := filepath.Join(dir, "bare")
			run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, full, bare)
			o := open(t, bare)
			if o.Stripped() || !o.HasDWARF() {
				t.Errorf("stripped %t, DWARF %t", o.Stripped(), o.HasDWARF())
			}
			if f, l, _, ok := o.Line(main); f != file || l != line || !ok {
				t.Errorf("main is at %s:%d, %t; want %s:%d", f, l, ok, file, line)
			}
			if name, _, _ := o.FuncAt(local); name != "local1" {
				t.Errorf("local function is %q", name)
			}

			// A debug file of another build must not be believed.
			other := compile(t, "gcc", append(tt.build, "-g", "-O0", "testdata/data.c")...)
			run(t, "objcopy", "--only-keep-debug", other, debug)
			if o := open(t, bare); !o.Stripped() || o.HasDWARF() {
				t.Error("the debug file of another build was used")
			}
		})
	}
}

func TestDebugFileByBuildID(t *testing.T) {
	full := compile(t, "gcc", "-g", "-O1", "-Wl,--build-id=0xabcdef12", "testdata/data.c")
	root := t.TempDir()
	old := debugRoot
	debugRoot = root
	defer func() { debugRoot = old }()
	dir := filepath.Join(root, ".build-id", "ab")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "objcopy", "--only-keep-debug", full, filepath.Join(dir, "cdef12.debug"))
	run(t, "strip", full)
	o := open(t, full)
	if o.Stripped() || !o.HasDWARF() || len(o.Symbol("local2")) != 1 {
		t.Errorf("stripped %t, DWARF %t, local2 at %x", o.Stripped(), o.HasDWARF(), o.Symbol("local2"))
	}
}
