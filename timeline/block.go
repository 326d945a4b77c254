package timeline

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// A file is a mark, and blocks behind it. A block has a kind, the length of its contents, their
// checksum, and the contents. The length or checksum shows that a block was not written to its end.
// Blocks are only appended, so that whole ones remain if the tool is killed.

// mark begins each file. The byte behind it is the format's version.
const mark = "OMPPTML"

// The versions of the format.
const (
	versionPlain  = 1
	versionCounts = 2 // spans may have counters. Without counters, files have version 1.
)

// The kinds of blocks.
const (
	blockHeader     = 'H' // JSON: header
	blockNames      = 'N' // JSON: names
	blockChunk      = 'C'
	blockGaps       = 'G' // JSON: []Gap; the file's gaps are those of all such blocks
	blockDictionary = 'D' // JSON, compressed: Dictionary
)

const (
	blockHead    = 1 + 4 + 4
	largestBlock = 64 << 20
)

var sums = crc32.MakeTable(crc32.Castagnoli)

// header tells what was recorded, before anything else is known.
type header struct {
	PID      int       `json:"pid"`
	Tool     string    `json:"tool,omitempty"`
	Counting *Counting `json:"counting,omitempty"`
}

// names holds the numbers that spans in the chunks behind it use for the first time.
type names struct {
	Defined []Definition `json:"defined,omitempty"`
	Seats   []Seat       `json:"seats,omitempty"`
}

// putBlock writes a block in one call, so that no other write can come between.
func putBlock(w io.Writer, kind byte, data []byte) error {
	b := make([]byte, blockHead, blockHead+len(data))
	b[0] = kind
	binary.LittleEndian.PutUint32(b[1:], uint32(len(data)))
	binary.LittleEndian.PutUint32(b[5:], sumOf(kind, data))
	_, err := w.Write(append(b, data...))
	return err
}

func sumOf(kind byte, data []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{kind}, sums), sums, data)
}
