package callgraph

import (
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// decodings keeps the decoded code of files until their plans are made.
var decodings symbols.Memo[*insn.Decoded]

// CodeOf returns a file's code. Each function of the code is decoded once.
func CodeOf(o *symbols.Object) *insn.Decoded {
	return decodings.Of(o, func(o *symbols.Object) *insn.Decoded { return insn.NewDecoded(o) })
}

// Forget drops what CodeOf keeps of a file.
func Forget(o *symbols.Object) { decodings.Forget(o) }
