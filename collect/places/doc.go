// Package places finds where in the source the constructs of a process are. The Resolver of a
// process answers the engine's questions about addresses. It reads the files that the process maps,
// with their tables of regions (package regions), line tables and debug files. It also says which
// constructs no probe sees (Resolver.Unseen). An address is bound to a file when the address is
// first seen, since later another library may be mapped there.
//
// A Resolver has no lock: who feeds the process's engine guards the resolver too.
package places
