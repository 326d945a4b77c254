package callgraph

import (
	"sync"

	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// decodings keeps the decoded code of files until their plans are made.
var decodings sync.Map

// CodeOf returns a file's code. Each function of the code is decoded once.
func CodeOf(o *symbols.Object) *insn.Decoded {
	d, _ := decodings.LoadOrStore(o, insn.NewDecoded(o))
	return d.(*insn.Decoded)
}

// Forget drops what CodeOf keeps of a file.
func Forget(o *symbols.Object) { decodings.Delete(o) }
