package debuginfo

import "encoding/binary"

// plausibleLines reports whether the tables in the header of a line program, at an offset, can be
// as long as they claim (DWARF 5, 6.2.4). debug/dwarf allocates the claimed size before it reads
// the tables.
func plausibleLines(section []byte, offset int64) bool {
	if offset < 0 || offset >= int64(len(section)) {
		return false
	}
	b := section[offset:]
	if len(b) < 4 {
		return false
	}
	word := 4 // bytes of an offset
	if binary.LittleEndian.Uint32(b) == 0xffffffff {
		word = 8
		b = b[min(8, len(b)):]
	}
	const fixed = 2 + 2 + 6 // version, address and selector size, six single bytes
	if b = b[min(word, len(b)):]; len(b) < fixed+word {
		return false
	}
	if binary.LittleEndian.Uint16(b) < 5 {
		return true // lists that end with a zero, read one by one
	}
	b = b[4+word:]
	opcodes := int(b[5])
	b = b[min(6+max(opcodes-1, 0), len(b)):]
	for range 2 { // directories, files
		var ok bool
		if b, ok = skipLineTable(b, word); !ok {
			return false
		}
	}
	return true
}

// skipLineTable skips a format and the entries that follow it.
func skipLineTable(b []byte, word int) (rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, false
	}
	var forms []uint64
	n := int(b[0])
	b = b[1:]
	for range n {
		_, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, false
		}
		form, more := binary.Uvarint(b[used:])
		if more <= 0 {
			return nil, false
		}
		forms, b = append(forms, form), b[used+more:]
	}
	entries, used := binary.Uvarint(b)
	if used <= 0 || entries > uint64(len(b)) || entries > 0 && len(forms) == 0 {
		return nil, false
	}
	b = b[used:]
	for range entries {
		for _, form := range forms {
			size, ok := lineFormSize(b, form, word)
			if !ok || size > len(b) {
				return nil, false
			}
			b = b[size:]
		}
	}
	return b, true
}

// lineFormSize returns the size of a value of one of the forms that compilers use in line tables.
func lineFormSize(b []byte, form uint64, word int) (size int, ok bool) {
	switch form {
	case 0x08: // DW_FORM_string
		for size < len(b) && b[size] != 0 {
			size++
		}
		return size + 1, true
	case 0x0e, 0x1f: // DW_FORM_strp, DW_FORM_line_strp
		return word, true
	case 0x0b: // DW_FORM_data1
		return 1, true
	case 0x05: // DW_FORM_data2
		return 2, true
	case 0x06: // DW_FORM_data4
		return 4, true
	case 0x07: // DW_FORM_data8
		return 8, true
	case 0x1e: // DW_FORM_data16
		return 16, true
	case 0x0f: // DW_FORM_udata
		_, size = binary.Uvarint(b)
		return size, size > 0
	}
	return 0, false
}
