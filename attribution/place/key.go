// Package place holds what identifies a construct in the program, and the questions that only the
// program's files can answer.
package place

import "ompp-attach/event"

// RuntimeConstruct is a construct and the runtime that executes it. The two are a struct of their
// own so that Key has only four fields. The compiler keeps structs of more than four fields in
// memory. Copying such a Key would have to wait until its single bytes are stored, which takes some
// 5 ns per copy.
type RuntimeConstruct struct {
	Construct event.Construct
	Runtime   event.Runtime
}

// Key identifies a construct by addresses, before its place in the source is known.
type Key struct {
	RuntimeConstruct
	// Outlined function (parallel; a construct whose call is a jump at the function's end), or
	// named critical.
	Fn   uint64
	Site uint64 // return address of the runtime call
	Loc  uint64 // libomp's ident_t
}

// Element returns the element of a set of constructs that stands for the key's construct.
func (k *Key) Element() event.Construct { return event.Element(k.Construct, k.Fn) }
