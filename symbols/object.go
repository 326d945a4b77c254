package symbols

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"ompp-attach/files"
	"ompp-attach/symbols/debuginfo"
)

// Reasons for refusing a file. OpenObject and NewObject wrap them.
var (
	ErrNotELF      = errors.New("not an ELF file")
	Err32Bit       = errors.New("32-bit ELF file")
	ErrUnsupported = errors.New("neither a little-endian amd64 nor arm64 program or library")
)

// Object is one ELF program or shared library. All methods are safe for concurrent use. Parts that
// take long to parse are parsed when first asked for.
type Object struct {
	path   string
	mtime  time.Time
	r      io.ReaderAt
	size   int64
	file   *elf.File
	closer io.Closer

	symbols func() *symbolTables
	dynamic func() *dynamicTables
	imports func() map[string]bool // see loadImports
	relocs  func() *relocations
	starts  func() []uint64
	// fullNames returns the string table of the full symbol table.
	fullNames func() string
	dwarf     func() *debuginfo.Index
	debug     func() *Object // the separate debug file, or nil
	inlined   func() map[string]int
	sources   sourceCache
	read      unpacked
}

// OpenObject opens the ELF file at path. The file stays open until Close. So it can be read after
// its process has ended, or after the file was replaced.
func OpenObject(path string) (*Object, error) {
	f, err := files.Open(path)
	if errors.Is(err, files.ErrNotRegular) || errors.Is(err, files.ErrKernel) {
		err = fmt.Errorf("%w: %w", ErrNotELF, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open object: %w", err)
	}
	o, err := NewObject(f, f.Info().Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open object %s: %w", path, err)
	}
	o.path, o.mtime, o.closer = path, f.Info().ModTime(), f
	return o, nil
}

// NewObject makes an Object of size bytes in memory or elsewhere. Such an object has no path and no
// time of change. So its separate debug file is found by the build id only, and its source files
// are never trusted.
func NewObject(r io.ReaderAt, size int64) (*Object, error) {
	var ident [elf.EI_NIDENT]byte
	if _, err := r.ReadAt(ident[:], 0); err != nil || string(ident[:4]) != elf.ELFMAG {
		return nil, ErrNotELF
	}
	if elf.Class(ident[elf.EI_CLASS]) == elf.ELFCLASS32 {
		return nil, Err32Bit
	}
	if elf.Class(ident[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(ident[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return nil, ErrUnsupported
	}
	if namesCompressed(r) {
		return nil, fmt.Errorf("%w: the names of its sections are compressed", ErrNotELF)
	}
	f, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotELF, err)
	}
	if f.Machine != elf.EM_X86_64 && f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%w: %v %v", ErrUnsupported, f.Machine, f.Type)
	}
	o := &Object{r: r, size: size, file: f}
	o.leaveOutBombs()
	o.symbols = sync.OnceValue(o.loadSymbols)
	o.dynamic = sync.OnceValue(func() *dynamicTables { t := o.loadDynamicTables(); return &t })
	o.imports = sync.OnceValue(o.loadImports)
	o.relocs = sync.OnceValue(o.loadRelocations)
	o.starts = sync.OnceValue(o.unwindStarts)
	o.fullNames = sync.OnceValue(func() string { return rawSymbols{o, o.file.SectionByType(elf.SHT_SYMTAB)}.readNames() })
	o.dwarf = sync.OnceValue(o.loadDWARF)
	o.debug = sync.OnceValue(o.findDebugFile)
	o.inlined = sync.OnceValue(func() map[string]int { return o.dwarf().Copies() })
	return o, nil
}

// Close releases the file. Objects that Module.Object returned are shared and
// must not be closed.
func (o *Object) Close() error {
	if o.closer == nil {
		return nil
	}
	return o.closer.Close()
}

// Path returns the path that the object was opened with.
func (o *Object) Path() string { return o.path }

// Arch returns the object's architecture in Go's spelling: amd64 or arm64.
func (o *Object) Arch() string {
	if o.file.Machine == elf.EM_AARCH64 {
		return "arm64"
	}
	return "amd64"
}

// IsPIE reports whether the object is a position-independent executable, as
// opposed to a shared library or a program with fixed addresses.
func (o *Object) IsPIE() bool {
	if o.file.Type != elf.ET_DYN {
		return false
	}
	// A static PIE has no interpreter, but it has the flag. Older linkers set no flag, but name the
	// interpreter.
	flags, err := o.file.DynValue(elf.DT_FLAGS_1)
	if err == nil && len(flags) > 0 && flags[0]&uint64(elf.DF_1_PIE) != 0 {
		return true
	}
	return o.Interpreter() != ""
}

// IsExecutable reports whether the object is a program, not a library.
func (o *Object) IsExecutable() bool { return o.file.Type == elf.ET_EXEC || o.IsPIE() }

// Interpreter returns the dynamic loader that the program names, or "" for a
// static program or an ordinary shared library.
func (o *Object) Interpreter() string {
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_INTERP {
			b := o.readAt(p.Off, min(p.Filesz, 4096))
			s, _, _ := strings.Cut(string(b), "\x00")
			return s
		}
	}
	return ""
}

// BuildID returns the GNU build id in hexadecimal, or "".
func (o *Object) BuildID() string {
	for _, s := range o.file.Sections {
		if s.Type == elf.SHT_NOTE && s.Name == ".note.gnu.build-id" {
			if id := buildID(o.readAt(s.Offset, s.FileSize)); id != "" {
				return id
			}
		}
	}
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_NOTE {
			if id := buildID(o.readAt(p.Off, p.Filesz)); id != "" {
				return id
			}
		}
	}
	return ""
}

// buildID finds the build id in a note section.
func buildID(section []byte) string {
	const ntGNUBuildID = 3
	for id := range notes(section, "GNU", ntGNUBuildID) {
		return hex.EncodeToString(id)
	}
	return ""
}

// Stripped reports whether there is no full symbol table (.symtab), neither
// in the file nor in its separate debug file: local functions have no names.
func (o *Object) Stripped() bool {
	return o.file.SectionByType(elf.SHT_SYMTAB) == nil &&
		(o.debug() == nil || o.debug().file.SectionByType(elf.SHT_SYMTAB) == nil)
}

// HasLocalNames reports whether the file itself has a full symbol table.
func (o *Object) HasLocalNames() bool { return o.file.SectionByType(elf.SHT_SYMTAB) != nil }

// HasDWARF reports whether line information exists, in the file or in its
// separate debug file.
func (o *Object) HasDWARF() bool {
	return hasSection(o.file, "debug_line") || o.debug() != nil && hasSection(o.debug().file, "debug_line")
}

// hasSection looks for a debug section with contents, under its plain name and under its old
// compressed name.
func hasSection(f *elf.File, name string) bool {
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool {
		return (s.Name == "."+name || s.Name == ".z"+name) && s.Type != elf.SHT_NOBITS && s.FileSize > 0
	})
}

// TextRanges returns the address ranges that hold code, sorted, without the
// linker's PLT stubs.
func (o *Object) TextRanges() []Range {
	var rs []Range
	for _, s := range o.file.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type == elf.SHT_PROGBITS && !isPLT(s.Name) && s.Addr+s.Size > s.Addr {
			rs = append(rs, Range{Lo: s.Addr, Hi: s.Addr + min(s.Size, uint64(o.size))})
		}
	}
	if rs == nil {
		for _, p := range o.file.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr+p.Filesz > p.Vaddr {
				rs = append(rs, Range{Lo: p.Vaddr, Hi: p.Vaddr + min(p.Filesz, uint64(o.size))})
			}
		}
	}
	slices.SortFunc(rs, func(a, b Range) int { return compare(a.Lo, b.Lo) })
	return rs
}

// Read returns up to n bytes of the file that are loaded at vaddr. It returns fewer at the end of a
// segment, and none outside all segments or in zero-filled memory.
func (o *Object) Read(vaddr uint64, n int) []byte { return o.readInto(nil, vaddr, n) }

// readInto is Read that uses the memory of b, if it is large enough.
func (o *Object) readInto(b []byte, vaddr uint64, n int) []byte {
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_LOAD && vaddr >= p.Vaddr && vaddr-p.Vaddr < p.Filesz && n > 0 {
			at := vaddr - p.Vaddr
			return o.readAtInto(b, p.Off+at, min(uint64(n), p.Filesz-at))
		}
	}
	return nil
}

// readAt reads n bytes at a file offset. It reads fewer if the file is truncated.
func (o *Object) readAt(off, n uint64) []byte { return o.readAtInto(nil, off, n) }

func (o *Object) readAtInto(b []byte, off, n uint64) []byte {
	if off >= uint64(o.size) {
		return nil
	}
	if n = min(n, uint64(o.size)-off); uint64(cap(b)) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	k, err := o.r.ReadAt(b, int64(off))
	if err != nil && err != io.EOF {
		return nil
	}
	return b[:k]
}

// FileOffset returns where in the file the byte at vaddr is stored.
func (o *Object) FileOffset(vaddr uint64) (uint64, bool) {
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_LOAD && vaddr >= p.Vaddr && vaddr-p.Vaddr < p.Filesz {
			return vaddr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// VAddr is the inverse of FileOffset. Where two segments load the same bytes,
// the executable one counts.
func (o *Object) VAddr(offset uint64) (vaddr uint64, ok bool) {
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_LOAD && offset >= p.Off && offset-p.Off < p.Filesz {
			if p.Flags&elf.PF_X != 0 {
				return offset - p.Off + p.Vaddr, true
			}
			if !ok {
				vaddr, ok = offset-p.Off+p.Vaddr, true
			}
		}
	}
	return vaddr, ok
}
