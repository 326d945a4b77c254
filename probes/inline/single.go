package inline

import (
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/gomp"
)

// singles finds where the bodies of single nowait constructs end. The identity
// is the address to which the call of GOMP_single_start returns.
func (f *function) singles(x *Inlined) {
	for n := range f.g.Blocks {
		b := &f.g.Blocks[n]
		call := b.Last()
		if f.calls[call.Addr] != "GOMP_single_start" || b.After < 0 || gomp.EndOfSingle(f.o, call.Next()) != gomp.SingleNowait {
			continue
		}
		// The outcome is tested at the end of the block behind the call.
		if f.g.Blocks[b.After].Last().Control != disasm.Jcc {
			continue
		}
		c := Construct{Construct: event.Single, Fn: f.fn, Identity: call.Next(), File: f.file, Begin: f.line(call.Addr)}
		c.Leave, c.End = f.leave(b.After, func(int) bool { return true })
		if c.End == event.EndPoint {
			x.Constructs = append(x.Constructs, c)
		}
	}
}
