package callgraph

import (
	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// decodings keeps the decoded code of files until their plans are made.
var decodings symbols.Memo[*disasm.Decoded]

// CodeOf returns a file's code. Each function of the code is decoded once.
func CodeOf(o *symbols.Object) *disasm.Decoded {
	return decodings.Of(o, func(o *symbols.Object) *disasm.Decoded { return disasm.NewDecoded(o) })
}

// Forget drops what CodeOf keeps of a file.
func Forget(o *symbols.Object) { decodings.Forget(o) }
