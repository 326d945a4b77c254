package stacks

import pprof "github.com/google/pprof/profile"

// SampleTypes are the values that each sample of regions has, in this order.
var SampleTypes = []*pprof.ValueType{
	{Type: "time", Unit: "nanoseconds"},
	{Type: "executions", Unit: "count"},
	{Type: "sync", Unit: "nanoseconds"},
	{Type: "imbalance", Unit: "nanoseconds"},
	{Type: "limited_parallelism", Unit: "nanoseconds"},
	{Type: "management", Unit: "nanoseconds"},
}

// NoCoreSampleTypes are added if threads lacked a core.
var NoCoreSampleTypes = []*pprof.ValueType{{Type: "no_core", Unit: "nanoseconds"}}

// MPISampleTypes are added if MPI was used.
var MPISampleTypes = []*pprof.ValueType{
	{Type: "mpi_time", Unit: "nanoseconds"},
	{Type: "bytes_in", Unit: "bytes"},
	{Type: "bytes_out", Unit: "bytes"},
}
