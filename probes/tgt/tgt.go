// Package tgt knows LLVM's libomptarget (offload/libomptarget/interface.cpp, LLVM 12 to 19), seen
// from the host: how long a thread is in its entry points. If there is no device, the program calls
// the host's own version of a target region after the entry point has returned. So that time is not
// included.
package tgt

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// Runtime describes libomptarget.
var Runtime = probes.Runtime{
	Name:    event.Tgt,
	Defines: [][]string{{"__tgt_target_kernel"}, {"__tgt_target_mapper"}},
	Prefix:  "__tgt_",
	Place:   place,
}

var table = probes.NewTable(rows)

func place(p *probes.Planner) error {
	p.Entries(table(), nil)
	p.Enclosing(enclosing)
	return nil
}

// Entry points that run no user code.
var rows = []probes.Row{
	// A `target data` is one call of each of the first two rows.
	{Symbols: `__tgt_target_data_begin(_mapper|_nowait_mapper)?`, Construct: event.TargetEnterData,
		Entry: event.Enter, Return: event.Released, A: probes.Loc(0), Flags: bpf.RowOutsideOnly,
		Marks: event.Whole},
	{Symbols: `__tgt_target_data_end(_mapper|_nowait_mapper)?`, Construct: event.TargetExitData,
		Entry: event.Enter, Return: event.Released, A: probes.Loc(0), Flags: bpf.RowOutsideOnly,
		Marks: event.Whole},
	{Symbols: `__tgt_target_data_update(_mapper|_nowait_mapper)?`, Construct: event.TargetUpdate,
		Entry: event.Enter, Return: event.Released, A: probes.Loc(0), Flags: bpf.RowOutsideOnly,
		Marks: event.Whole},
}

// If the device is the host itself, these execute user code. The older ones call the newer one.
var enclosing = []probes.Enclosing{
	target("__tgt_target_kernel"),
	target("__tgt_target_kernel_nowait"),
	target("__tgt_target_mapper"),
	target("__tgt_target_nowait_mapper"),
	target("__tgt_target_teams_mapper"),
	target("__tgt_target_teams_nowait_mapper"),
}

func target(symbol string) probes.Enclosing {
	return probes.Enclosing{Symbol: symbol,
		Entry: probes.Row{Construct: event.Target, Entry: event.Enter, A: probes.Loc(0)},
		Exit:  probes.Row{Construct: event.Target, Entry: event.Release}}
}
