package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// LLVM's libomptarget (offload/libomptarget/interface.cpp, LLVM 12 to 19), seen
// from the host: how long a thread is in its entry points. The host's own
// version of a target region, for want of a device, is called by the program
// when the entry point has returned, so it is not part of that time.
var tgtPoints = []point{
	// `target data` is one call of each of the first two.
	{symbols: `__tgt_target_data_begin(_mapper|_nowait_mapper)?`, construct: event.TargetEnterData, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.Whole},
	{symbols: `__tgt_target_data_end(_mapper|_nowait_mapper)?`, construct: event.TargetExitData, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.Whole},
	{symbols: `__tgt_target_data_update(_mapper|_nowait_mapper)?`, construct: event.TargetUpdate, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.Whole},
}

// A device that is the host itself executes user code in these. The older ones
// call the newer one.
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
