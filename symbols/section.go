package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"sync/atomic"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/sys/unix"
)

// Sections may be compressed, and a few megabytes may unpack to gigabytes of zeros. So there is a
// limit to the size to which a section may unpack, and to the sum over all sections of a file.
// Debug information compresses to a fifth. Long lists of the same name, or of zeros, compress more.
const (
	unpacksTo  = 32      // times the size in the file
	unpacksMin = 1 << 20 // bytes that any section may have
)

// unpacked counts the bytes of an object's sections that were unpacked.
type unpacked struct{ n atomic.Int64 }

// reserve counts n bytes. ok is false if that is too much for this machine.
func (u *unpacked) reserve(n uint64) bool {
	if n > uint64(plenty) {
		return false
	}
	if u.n.Add(int64(n)) > plenty {
		u.n.Add(-int64(n))
		return false
	}
	return true
}

// plenty is how many bytes of the machine's memory the tool may use for one file.
var plenty = func() int64 {
	const least = 256 << 20
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return least
	}
	return max(least, int64(uint64(si.Totalram)*uint64(si.Unit)/4))
}()

// leaveOutBombs empties sections that claim to unpack to an implausible size. Afterwards it is safe
// to ask for the contents of any section.
func (o *Object) leaveOutBombs() {
	for _, s := range o.file.Sections {
		if s.Flags&elf.SHF_COMPRESSED != 0 && s.Size > max(unpacksMin, unpacksTo*s.FileSize) {
			s.Type, s.Size, s.FileSize = elf.SHT_NOBITS, 0, 0
		}
	}
}

// namesCompressed reports whether the names of a file's sections are compressed. No linker
// compresses them. Compressed names would be unpacked before their size can be checked.
func namesCompressed(r io.ReaderAt) bool {
	var h elf.Header64
	var s elf.Section64
	if binary.Read(io.NewSectionReader(r, 0, int64(binary.Size(h))), binary.LittleEndian, &h) != nil || h.Shoff > math.MaxInt64/2 {
		return false
	}
	names := uint64(h.Shstrndx)
	read := func(n uint64) bool {
		at := h.Shoff + n*uint64(h.Shentsize)
		return binary.Read(io.NewSectionReader(r, int64(at), int64(binary.Size(s))), binary.LittleEndian, &s) == nil
	}
	if names == uint64(elf.SHN_XINDEX) { // too many for this field: the first header has the number
		if !read(0) {
			return false
		}
		names = uint64(s.Link)
	}
	return read(names) && elf.SectionFlag(s.Flags)&elf.SHF_COMPRESSED != 0
}

// section returns a section's contents, uncompressed. It returns nil if they are not in the file,
// or too large.
func (o *Object) section(s *elf.Section) []byte {
	stored := s.Flags&elf.SHF_COMPRESSED == 0
	if s.Type == elf.SHT_NOBITS || stored && s.Size > uint64(o.size) || !o.read.reserve(s.Size) {
		return nil
	}
	if b, ok := o.unzip(s); ok {
		return b
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}

// unzip returns the contents of a section that is compressed by zlib. ok is false for other
// sections. unzip takes three quarters of the time that Section.Data takes.
func (o *Object) unzip(s *elf.Section) (b []byte, ok bool) {
	packed := o.readAt(s.Offset, s.FileSize)
	head := binary.Size(elf.Chdr64{})
	if s.Flags&elf.SHF_COMPRESSED == 0 || len(packed) < head ||
		elf.CompressionType(binary.LittleEndian.Uint32(packed)) != elf.COMPRESS_ZLIB {
		return nil, false
	}
	r, err := zlib.NewReader(bytes.NewReader(packed[head:]))
	if err != nil {
		return nil, false
	}
	b = make([]byte, s.Size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, false
	}
	return b, true
}
