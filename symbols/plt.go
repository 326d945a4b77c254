package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// isPLT reports whether a section holds linker-made stubs: .plt, .plt.sec,
// .plt.got, .iplt.
func isPLT(section string) bool {
	return section == ".plt" || strings.HasPrefix(section, ".plt.") || section == ".iplt"
}

// PLT returns the imported symbol that the PLT stub at vaddr jumps to.
func (o *Object) PLT(vaddr uint64) (symbol string, ok bool) {
	if !o.inPLT(vaddr) {
		return "", false
	}
	slot, ok := uint64(0), false
	if o.file.Machine == elf.EM_X86_64 {
		slot, ok = stubSlotAMD64(o.Read(vaddr, 16), vaddr)
	} else {
		slot, ok = stubSlotARM64(o.Read(vaddr, 16), vaddr)
	}
	if !ok {
		return "", false
	}
	return o.GOT(slot)
}

func (o *Object) inPLT(vaddr uint64) bool {
	for _, s := range o.file.Sections {
		if isPLT(s.Name) && s.Flags&elf.SHF_ALLOC != 0 && vaddr >= s.Addr && vaddr-s.Addr < s.Size {
			return true
		}
	}
	return false
}

// stubSlotAMD64 decodes [endbr64] [bnd] jmp *slot(%rip). The second half of a
// lazy stub (push; jmp) is no entry and is not decoded.
func stubSlotAMD64(b []byte, vaddr uint64) (slot uint64, ok bool) {
	size := len(b)
	b = bytes.TrimPrefix(b, []byte{0xf3, 0x0f, 0x1e, 0xfa}) // endbr64
	b = bytes.TrimPrefix(b, []byte{0xf2})                   // bnd
	if len(b) < 6 || b[0] != 0xff || b[1] != 0x25 {
		return 0, false
	}
	rel := int32(binary.LittleEndian.Uint32(b[2:]))
	next := vaddr + uint64(size-len(b)) + 6
	return next + uint64(int64(rel)), true
}

// stubSlotARM64 decodes [bti c] adrp x16, page; ldr x17, [x16, #offset].
func stubSlotARM64(b []byte, vaddr uint64) (slot uint64, ok bool) {
	const btiC = 0xd503245f
	if len(b) >= 4 && binary.LittleEndian.Uint32(b) == btiC {
		b, vaddr = b[4:], vaddr+4
	}
	if len(b) < 8 {
		return 0, false
	}
	adrp, ldr := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0, false
	}
	pages := int64(adrp>>5&0x7ffff)<<2 | int64(adrp>>29&3)
	pages = pages << 43 >> 43 // 21-bit signed
	return (vaddr &^ 0xfff) + uint64(pages<<12) + uint64(ldr>>10&0xfff)*8, true
}

// Stubs returns the imported symbols that the linker's PLT stubs jump to, by
// the stub's vaddr.
func (o *Object) Stubs() map[uint64]string {
	stubs := map[uint64]string{}
	step := uint64(8) // stubs have 8 or 16 bytes
	if o.file.Machine == elf.EM_AARCH64 {
		step = 4
	}
	for _, s := range o.file.Sections {
		if !isPLT(s.Name) || s.Flags&elf.SHF_ALLOC == 0 || s.Type != elf.SHT_PROGBITS {
			continue
		}
		b := o.readAt(s.Offset, s.FileSize)
		for at := uint64(0); at+step <= uint64(len(b)); at += step {
			slot, ok := uint64(0), false
			code := b[at:min(at+16, uint64(len(b)))]
			if o.file.Machine == elf.EM_X86_64 {
				slot, ok = stubSlotAMD64(code, s.Addr+at)
			} else {
				slot, ok = stubSlotARM64(code, s.Addr+at)
			}
			if !ok {
				continue
			}
			if name, ok := o.GOT(slot); ok {
				stubs[s.Addr+at] = name
			}
		}
	}
	return stubs
}
