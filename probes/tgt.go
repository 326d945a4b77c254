package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// LLVM's libomptarget (offload/libomptarget/interface.cpp, LLVM 12 to 19), seen from the host: how
// long a thread is in its entry points. If there is no device, the program calls the host's own
// version of a target region after the entry point has returned. So that time is not included.
var tgtPoints = []point{
	// A `target data` is one call of each of the first two rows.
	{symbols: `__tgt_target_data_begin(_mapper|_nowait_mapper)?`, construct: event.TargetEnterData, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.Whole},
	{symbols: `__tgt_target_data_end(_mapper|_nowait_mapper)?`, construct: event.TargetExitData, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.Whole},
	{symbols: `__tgt_target_data_update(_mapper|_nowait_mapper)?`, construct: event.TargetUpdate, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.Whole},
}

// If the device is the host itself, these execute user code. The older ones call the newer one.
var tgtEnclosing = []enclosing{
	tgtTarget("__tgt_target_kernel"),
	tgtTarget("__tgt_target_kernel_nowait"),
	tgtTarget("__tgt_target_mapper"),
	tgtTarget("__tgt_target_nowait_mapper"),
	tgtTarget("__tgt_target_teams_mapper"),
	tgtTarget("__tgt_target_teams_nowait_mapper"),
}

func tgtTarget(symbol string) enclosing {
	return enclosing{symbol, point{construct: event.Target, entry: event.Enter, a: take{0, toLoc}},
		point{construct: event.Target, entry: event.Release}}
}
