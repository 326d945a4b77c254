package symbols

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// Ident is libomp's description of a source location (ident_t), which compilers
// pass to every __kmpc_ call.
type Ident struct {
	Flags    uint32 // kind of the construct or barrier, KMP_IDENT_*; also set without -g
	File     string // as given to the compiler, may be relative; "" if not known
	Function string // "" if not known
	Line     int    // of the directive; 0 if not known
	Col      int
}

// Flags of an ident_t (kmp.h, KMP_IDENT_*).
const (
	IdentBarrierExplicit = 0x20
	IdentBarrierImplicit = 0x40
	identBarrierKind     = 0x1c0 // of an implicit barrier: the construct that it ends
	identBarrierSingle   = 0x140
	IdentLoop            = 0x200
	IdentSections        = 0x400
	IdentDistribute      = 0x800
)

// Apart tells whether an implicit barrier certainly does not belong to the construct of share,
// which is no single. This is so if the barrier belongs to a single, or names another directive.
// Clang names the same place for a construct and its barrier. Intel's compilers name two places,
// each by its first and its last line.
func (share *Ident) Apart(barrier *Ident) bool {
	if share.Flags&(IdentLoop|IdentSections) != 0 && barrier.Flags&identBarrierKind == identBarrierSingle {
		return true
	}
	lines := share.Col >= share.Line && barrier.Col >= barrier.Line // these may be last lines
	return share.Line > 0 && barrier.Line > 0 && !lines &&
		(share.File != barrier.File || share.Line != barrier.Line || share.Col != barrier.Col)
}

// Ident reads the ident_t at vaddr. Its flags are at +4, the length of its text at +12, and the
// pointer to the text at +16. The layout is that of LLVM's kmp.h, and of Intel's runtime.
func (o *Object) Ident(vaddr uint64) (Ident, bool) {
	b := o.Read(vaddr, 24)
	if len(b) < 24 {
		return Ident{}, false
	}
	text, ok := o.Pointer(vaddr + 16)
	if !ok {
		return Ident{}, false
	}
	// Compilers before LLVM 14 left the length 0; the text ends in NUL anyway.
	n := int(min(binary.LittleEndian.Uint32(b[12:]), 1<<16))
	if n == 0 {
		n = 4096
	}
	s, _, _ := strings.Cut(string(o.Read(text, n)), "\x00")
	id, ok := parseIdent(s)
	id.Flags = binary.LittleEndian.Uint32(b[4:])
	return id, ok
}

// parseIdent reads ";file;function;line;column;;". The file may itself contain
// semicolons, so fields are counted from the end.
func parseIdent(s string) (Ident, bool) {
	s, ok := strings.CutPrefix(s, ";")
	if !ok {
		return Ident{}, false
	}
	s, ok = strings.CutSuffix(s, ";;")
	f := strings.Split(s, ";")
	if !ok || len(f) < 4 {
		return Ident{}, false
	}
	line, err1 := strconv.ParseUint(f[len(f)-2], 10, 31)
	col, err2 := strconv.ParseUint(f[len(f)-1], 10, 31)
	if err1 != nil || err2 != nil {
		return Ident{}, false
	}
	if line == 0 { // ;unknown;unknown;0;0;; without -g
		return Ident{}, true
	}
	return Ident{File: strings.Join(f[:len(f)-3], ";"), Function: f[len(f)-3], Line: int(line), Col: int(col)}, true
}
