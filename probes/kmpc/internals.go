package kmpc

import (
	"fmt"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
)

// internals says how the size of a thread's team is read in libomp. libomp's structures are not
// part of any interface:
//
//	(*Threads)[gtid] -> thread, thread[Team] -> team, team[NProc] -> size
type internals struct {
	// Threads is the virtual address of the variable __kmp_threads (8 bytes). The variable points
	// to an array of pointers, by global thread number.
	Threads uint64
	Team    uint32 // offset in a thread of its team pointer (8 bytes)
	NProc   uint32 // offset in a team of its number of threads (4 bytes)
}

// maxField bounds plausible offsets in libomp's structures.
const maxField = 1 << 14

// locate reads the layout from the code of __kmpc_bound_num_threads, which returns the number of
// threads in the caller's team. The error says that the function is missing or has another form.
// Then the team's size cannot be read.
func locate(code disasm.Code) (internals, error) {
	const accessor = "__kmpc_bound_num_threads"
	entry, err := disasm.OneSymbol(code, accessor)
	if err != nil {
		return internals{}, fmt.Errorf("locating libomp's team size: %w", err)
	}
	returned, err := values.Returns(code, entry)
	if err != nil {
		return internals{}, fmt.Errorf("locating libomp's team size: %s: %w", accessor, err)
	}
	var found []internals
	for _, v := range returned {
		k, ok := teamSize(v)
		if !ok || len(found) > 0 && found[0] != k {
			return internals{}, fmt.Errorf("locating libomp's team size: %s does not return a team's field", accessor)
		}
		found = append(found, k)
	}
	if len(found) == 0 {
		return internals{}, fmt.Errorf("locating libomp's team size: %s does not return", accessor)
	}
	return found[0], nil
}

// field takes the value of a structure's field apart: the structure's address, which was itself
// loaded, and the field's offset.
func field(v values.Value, size int) (base values.Value, off uint32, ok bool) {
	at, ok := v.Loaded(size)
	if !ok {
		return at, 0, false
	}
	rest, p, ok := at.Without(values.ALoad)
	n, isConst := rest.Const()
	if !ok || !isConst || p.N != 8 || n >= maxField {
		return at, 0, false
	}
	return values.Value{Atoms: []values.Atom{p}}, uint32(n), true
}

// teamSize takes the value __kmp_threads[i]->th_team->t_nproc apart.
func teamSize(v values.Value) (k internals, ok bool) {
	team, nproc, ok := field(v, 4)
	if !ok {
		return k, false
	}
	k, ok = teamOf(team)
	k.NProc = nproc
	return k, ok
}

// teamOf takes the value __kmp_threads[i]->th_team apart.
func teamOf(v values.Value) (k internals, ok bool) {
	thread, off, ok := field(v, 8)
	if !ok {
		return k, false
	}
	element, ok := thread.Loaded(8)
	if !ok {
		return k, false
	}
	array, _, ok := element.Without(values.AScaledRegister)
	if !ok {
		return k, false
	}
	variable, ok := array.Loaded(8)
	if !ok {
		return k, false
	}
	at, ok := variable.Const()
	return internals{Threads: at, Team: off}, ok && at != 0
}
