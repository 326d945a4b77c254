package symbols

import (
	"debug/elf"
	"encoding/binary"
)

// EHFrame returns the unwind information that is loaded with the code (.eh_frame), and its vaddr;
// nil: there is none. If the file has no sections, .eh_frame_hdr (LSB 5.0, Core, 10.6.2) tells the
// beginning. The end is that of the segment.
func (o *Object) EHFrame() (data []byte, vaddr uint64) {
	if s := o.file.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		return o.readAt(s.Offset, s.FileSize), s.Addr
	}
	for _, p := range o.file.Progs {
		if p.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		const pcRelativeSdata4 = 0x1b // DW_EH_PE_pcrel | DW_EH_PE_sdata4
		b := o.readAt(p.Off, min(p.Filesz, 8))
		if len(b) == 8 && b[0] == 1 && b[1] == pcRelativeSdata4 {
			vaddr = p.Vaddr + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(b[4:]))))
			return o.Read(vaddr, int(o.size)), vaddr
		}
	}
	return nil, 0
}

// DebugFrame returns the unwind information for debuggers (.debug_frame), of
// this file or its separate debug file; nil where there is none.
func (o *Object) DebugFrame() []byte {
	for _, f := range []*Object{o, o.debug()} {
		if f == nil {
			continue
		}
		for _, s := range f.file.Sections {
			if s.Name == ".debug_frame" || s.Name == ".zdebug_frame" {
				if b := f.section(s); b != nil {
					return b
				}
			}
		}
	}
	return nil
}
