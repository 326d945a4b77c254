package inline

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// telling are the functions whose calls show that a function may contain such constructs.
var telling = []string{"omp_get_thread_num", "GOMP_single_start"}

// starting are the functions that take an outlined function as their first argument.
var starting = []string{"GOMP_parallel", "GOMP_parallel_reductions", "GOMP_parallel_sections", "GOMP_teams_reg"}

// outlined finds the functions whose addresses are passed where parallel regions are started. In
// programs with symbols, names tell them.
func outlined(o *symbols.Object) map[uint64]bool {
	fns := map[uint64]bool{}
	if !o.Stripped() {
		return fns
	}
	for _, fn := range callers(o, starting) {
		body, _ := disasm.Func(o, fn)
		targets := values.Addresses(body)
		for _, i := range body {
			// mov $fn, %edi, in programs that are not PIE
			if i.Len == 5 && i.Bytes[0]&0xf8 == 0xb8 {
				targets = append(targets, uint64(binary.LittleEndian.Uint32(i.Bytes[1:])))
			}
		}
		for _, t := range targets {
			if lo, _, ok := o.FuncRange(t); ok && lo == t {
				fns[t] = true
			}
		}
	}
	return fns
}

// callers finds the functions of a file that call one of the named functions, by the bytes of the
// calls. A wrong find does no harm.
func callers(o *symbols.Object, names []string) (fns []uint64) {
	for _, at := range o.Branches(o.Targets(names...)) {
		if lo, _, ok := o.FuncRange(at); ok {
			fns = append(fns, lo)
		}
	}
	slices.Sort(fns)
	return slices.Compact(fns)
}

// callee names the function that an instruction calls or jumps to.
func callee(o *symbols.Object, i disasm.Inst) string {
	switch i.Control {
	case disasm.Call, disasm.Jump:
		if name, ok := o.PLT(i.Target); ok {
			return name
		}
		if name, start, ok := o.FuncAt(i.Target); ok && start == i.Target {
			return strings.TrimPrefix(name, "gomp_ialias_") // libgomp's name for its own use
		}
	case disasm.CallIndirect, disasm.JumpIndirect:
		if name, ok := o.GOT(i.Ref); ok {
			return name
		}
	}
	return ""
}

// noReturn matches the functions that do not return and that GCC's code or libraries call: what
// follows a call of them is other code.
var noReturn = regexp.MustCompile(`^(_?_?exit|_Exit|abort|__assert_fail|__stack_chk_fail|__chk_fail|__cxa_(re)?throw|__cxa_bad_cast|_Unwind_Resume|` +
	`__cxa_throw_bad_array_new_length|_ZSt9terminatev|_ZSt\d+__throw_\w+|__clang_call_terminate|_gfortran_(error_)?stop\w*|_gfortran_runtime_error(_at)?|_gfortran_os_error(_at)?)$`)

// divides reports whether a call is a barrier, or belongs to a construct that a team divides. None
// of these may stand inside another one.
func divides(name string) bool {
	for _, prefix := range []string{"GOMP_barrier", "GOMP_single_", "GOMP_sections", "GOMP_loop_"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.HasSuffix(name, "_next")
		}
	}
	return false
}
