package symbols

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"runtime"
	"testing"
)

// A section may claim to unpack to far more than it can hold. Reading it takes little memory,
// whichever section it is.
func TestSectionBombs(t *testing.T) {
	const size = 512 << 20
	var zeros bytes.Buffer
	z := zlib.NewWriter(&zeros)
	piece := make([]byte, 1<<20)
	for range size / len(piece) {
		_, _ = z.Write(piece)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	header := binary.LittleEndian.AppendUint64([]byte{byte(elf.COMPRESS_ZLIB), 0, 0, 0, 0, 0, 0, 0}, size)
	header = binary.LittleEndian.AppendUint64(header, 1)
	bomb := append(header, zeros.Bytes()...)
	whole := damageSeeds(t)["DWARF 5"]
	f, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	headers := binary.LittleEndian.Uint64(whole[40:]) // e_shoff
	for i, s := range f.Sections {
		if s.Type == elf.SHT_NULL {
			continue
		}
		b := append(bytes.Clone(whole), bomb...)
		h := b[headers+uint64(i)*64:]
		binary.LittleEndian.PutUint64(h[8:], uint64(elf.SHF_COMPRESSED))
		binary.LittleEndian.PutUint64(h[24:], uint64(len(whole)))
		binary.LittleEndian.PutUint64(h[32:], uint64(len(bomb)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if o, err := NewObject(bytes.NewReader(b), int64(len(b))); err == nil {
			query(o)
			o.Producers()
			o.DefinedVersions()
		}
		runtime.ReadMemStats(&after)
		if alloc := after.TotalAlloc - before.TotalAlloc; alloc > size/2 {
			t.Errorf("%s: %d MiB", s.Name, alloc>>20)
		}
	}
}

// Compressed debug information is read as before, if it is plausible.
func TestCompressedSections(t *testing.T) {
	b := damageSeeds(t)["compressed"]
	o, err := NewObject(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if x := o.dwarf(); len(x.CompileDirs("")) == 0 {
		t.Error("no units")
	}
	o.read.n.Store(plenty)
	if b := o.section(o.file.Section(".text")); b != nil {
		t.Error("more is read than the machine has")
	}
}
