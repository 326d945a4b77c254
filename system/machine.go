package system

// Machine is the hardware, as the kernel tells it. A zero or an empty string is what the kernel did
// not tell.
type Machine struct {
	Host         string `json:"host"`
	Architecture string `json:"architecture"`
	Model        string `json:"model,omitempty"`
	Virtual      string `json:"virtual,omitempty"` // the hypervisor's name, if there is one
	CPUs         int    `json:"cpus"`              // online
	// Affinity is how many CPUs the measurement might use, AffinityList which: "0-3,8".
	Affinity     int    `json:"affinity"`
	AffinityList string `json:"affinity_list"`
	// Quota is how many CPUs' time a control group gives to the measurement; 0: no limit.
	Quota          float64 `json:"quota,omitempty"`
	Sockets        int     `json:"sockets"`
	Cores          int     `json:"cores"`
	ThreadsPerCore int     `json:"threads_per_core"`
	BaseMHz        float64 `json:"base_mhz,omitempty"`
	MaxMHz         float64 `json:"max_mhz,omitempty"`
	NowMHz         float64 `json:"now_mhz,omitempty"`
	Governor       string  `json:"governor,omitempty"`
	Caches         []Cache `json:"caches,omitempty"`
	NUMA           []NUMA  `json:"numa,omitempty"`
	MemoryBytes    uint64  `json:"memory_bytes"`
	PageBytes      int     `json:"page_bytes"`
	HugePages      string  `json:"huge_pages,omitempty"` // the setting of transparent huge pages
}

// Cache is a level of the caches, as the first CPU has it.
type Cache struct {
	Level int    `json:"level"`
	Type  string `json:"type"` // Data, Instruction, Unified
	Bytes uint64 `json:"bytes"`
	Line  int    `json:"line_bytes"`
	// SharedBy is how many CPUs share one, Count how many there are.
	SharedBy int `json:"shared_by"`
	Count    int `json:"count"`
}

// NUMA is a node of memory.
type NUMA struct {
	Node        int    `json:"node"`
	CPUs        string `json:"cpus"`
	MemoryBytes uint64 `json:"memory_bytes"`
	Distances   []int  `json:"distances,omitempty"` // to each node, 10 is its own
}

// Software is what the measuring programs were compiled and run with.
type Software struct {
	Kernel         string   `json:"kernel"`
	OS             string   `json:"os,omitempty"`
	Compiler       *Tool    `json:"compiler,omitempty"`
	MPICompiler    *Tool    `json:"mpi_compiler,omitempty"`
	Launcher       string   `json:"launcher,omitempty"` // with {p} for the number of processes
	OpenMPRuntime  *Library `json:"openmp_runtime,omitempty"`
	OpenMPStandard int      `json:"openmp_standard,omitempty"` // the macro _OPENMP
	MPILibrary     *Library `json:"mpi_library,omitempty"`
	MPIStandard    string   `json:"mpi_standard,omitempty"`
	// The thread level that the library gave.
	MPIThreads      string    `json:"mpi_threads,omitempty"`
	Environment     []Setting `json:"environment,omitempty"` // that OpenMP and MPI read
	CompilerOptions []string  `json:"compiler_options,omitempty"`
}

// Tool is a compiler: the command, and the first line that it says about its version.
type Tool struct {
	Command string `json:"command"`
	Version string `json:"version,omitempty"`
}

// Library is a loaded library.
type Library struct {
	Name    string `json:"name"` // libgomp, libomp, Open MPI, MPICH
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	BuildID string `json:"build_id,omitempty"`
}

// Setting is a variable of the environment.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String returns name and version; empty for nil.
func (l *Library) String() string {
	switch {
	case l == nil:
		return ""
	case l.Version == "":
		return l.Name
	default:
		return l.Name + " " + l.Version
	}
}
