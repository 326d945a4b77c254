package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"ompp-attach/internal/hostile"
)

// These bounds hold for one broken file of some 20 kB, under the race detector too.
const (
	maxQueryTime  = 5 * time.Second
	maxQueryAlloc = 256 << 20
)

// bounded asks an object all questions. It fails if the answers take more time or memory than is
// right for a file of that size.
func bounded(t *testing.T, what string, b []byte) (opened bool) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := hostile.ProcessorTime()
	o, err := NewObject(bytes.NewReader(b), int64(len(b)))
	if err == nil {
		query(o)
	}
	took := hostile.ProcessorTime() - used
	runtime.ReadMemStats(&after)
	if alloc := after.TotalAlloc - before.TotalAlloc; took > maxQueryTime || alloc > maxQueryAlloc {
		t.Errorf("%s: %s, %d MiB allocated", what, took, alloc>>20)
	}
	return err == nil
}

// damageSeeds are files with a table of each kind that the package reads.
func damageSeeds(t testing.TB) map[string][]byte {
	dir := t.TempDir()
	seeds := map[string][]byte{}
	for name, args := range map[string][]string{
		"DWARF 5":     {"gcc", "-g", "-O1", "-fopenmp", "-fPIC", "-shared", "testdata/regions.c"},
		"DWARF 4":     {"gcc", "-gdwarf-4", "-O1", "-fopenmp", "-fPIC", "-shared", "testdata/regions.c"},
		"split DWARF": {"gcc", "-g", "-gsplit-dwarf", "-dumpdir", dir + "/", "-O1", "-fopenmp", "-fPIC", "-shared", "testdata/regions.c"},
		"compressed":  {"gcc", "-g", "-gz", "-O1", "-fopenmp", "-fPIC", "-shared", "testdata/regions.c"},
		"inlined":     {"gcc", "-g", "-O3", "-fopenmp", "-fPIC", "-shared", "testdata/template.cpp"},
		"sysv hash":   {"gcc", "-g", "-O1", "-fopenmp", "-fPIC", "-shared", "-Wl,--hash-style=sysv", "testdata/regions.c"},
		"no-pie":      {"gcc", "-g", "-O1", "-no-pie", "testdata/data.c"},
	} {
		out := filepath.Join(dir, "seed")
		run(t, args[0], append([]string{"-w", "-nostartfiles", "-o", out}, args[1:]...)...)
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		seeds[name] = b
	}
	return seeds
}

// TestDamagedTables breaks one table at a time. The headers stay right, so readers get further than
// with damage in any place.
func TestDamagedTables(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	rng := rand.New(rand.NewPCG(3, 4))
	tables, opened := 0, 0
	for name, whole := range damageSeeds(t) {
		f, err := elf.NewFile(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Sections {
			if s.Type == elf.SHT_NULL || s.Type == elf.SHT_NOBITS || s.FileSize == 0 || s.Name == ".text" {
				continue
			}
			tables++
			for round := range rounds {
				b := bytes.Clone(whole)
				part := b[s.Offset:][:s.FileSize]
				for range 1 + rng.IntN(8) {
					at := rng.IntN(len(part))
					switch rng.IntN(3) {
					case 0:
						part[at] = byte(rng.Uint32())
					case 1: // a number that is far too large
						for i := at; i < min(at+4, len(part)); i++ {
							part[i] = 0xff
						}
					case 2:
						clear(part[at:min(at+8, len(part))])
					}
				}
				if bounded(t, name+" "+s.Name, b) {
					opened++
				}
				if t.Failed() {
					t.Fatalf("round %d", round)
				}
			}
		}
	}
	if opened < tables*rounds*9/10 {
		t.Errorf("only %d of %d could be opened", opened, tables*rounds)
	}
}

// A header of a few bytes must not make the package allocate the size that it claims.
func TestClaimedSizes(t *testing.T) {
	for name, whole := range damageSeeds(t) {
		headers := binary.LittleEndian.Uint64(whole[40:]) // e_shoff
		size := uint64(binary.LittleEndian.Uint16(whole[58:]))
		n := uint64(binary.LittleEndian.Uint16(whole[60:]))
		for i := range n {
			for _, claim := range []uint64{1 << 32, 1 << 40, 1<<63 - 1, 1<<64 - 1} {
				b := bytes.Clone(whole)
				h := b[headers+i*size:]
				binary.LittleEndian.PutUint64(h[32:], claim) // sh_size
				bounded(t, name+" size", b)
				if elf.SectionFlag(binary.LittleEndian.Uint64(h[8:]))&elf.SHF_COMPRESSED != 0 {
					copy(b, whole)
					at := binary.LittleEndian.Uint64(h[24:])       // sh_offset
					binary.LittleEndian.PutUint64(b[at+8:], claim) // ch_size
					bounded(t, name+" uncompressed size", b)
				}
			}
		}
	}
}
