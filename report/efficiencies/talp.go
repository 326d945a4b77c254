package efficiencies

import (
	"io"
	"time"

	"ompp-attach/efficiency"
)

// talpJSON are the metrics of a monitoring region in the file that TALP writes with
// --talp-output-file=NAME.json (DLB, src/talp/talp_output.c, pop_metrics_to_json). Fields of
// counters are 0, as in TALP without PAPI.
type talpJSON struct {
	CPUs             int     `json:"numCpus"`
	Ranks            int     `json:"numMpiRanks"`
	Nodes            int     `json:"numNodes"`
	AvgCPUs          float64 `json:"avgCpus"`
	Cycles           float64 `json:"cycles"`
	Instructions     float64 `json:"instructions"`
	Measurements     int     `json:"numMeasurements"`
	Calls            uint64  `json:"numMpiCalls"`
	Parallels        uint64  `json:"numOmpParallels"`
	Tasks            uint64  `json:"numOmpTasks"`
	Elapsed          int64   `json:"elapsedTime"`
	Useful           int64   `json:"usefulTime"`
	MPI              int64   `json:"mpiTime"`
	WorkerIdle       int64   `json:"mpiWorkerIdleTime"`
	LoadImbalance    int64   `json:"ompLoadImbalanceTime"`
	Scheduling       int64   `json:"ompSchedulingTime"`
	Serialization    int64   `json:"ompSerializationTime"`
	Parallel         float64 `json:"parallelEfficiency"`
	MPIParallel      float64 `json:"mpiParallelEfficiency"`
	MPICommunication float64 `json:"mpiCommunicationEfficiency"`
	MPIBalance       float64 `json:"mpiLoadBalance"`
	MPIBalanceIn     float64 `json:"mpiLoadBalanceIn"`
	MPIBalanceOut    float64 `json:"mpiLoadBalanceOut"`
	OMPParallel      float64 `json:"ompParallelEfficiency"`
	OMPBalance       float64 `json:"ompLoadBalance"`
	OMPScheduling    float64 `json:"ompSchedulingEfficiency"`
	OMPSerialization float64 `json:"ompSerializationEfficiency"`
}

// talpProcess is a process in the same file (process_to_json).
type talpProcess struct {
	Rank          int     `json:"rank"`
	PID           int     `json:"pid"`
	Node          int     `json:"nodeId"`
	Host          string  `json:"hostname"`
	CPUSet        []int   `json:"cpuset"`
	CPUs          int     `json:"numCpus"`
	AvgCPUs       float64 `json:"avgCpus"`
	Cycles        int64   `json:"cycles"`
	Instructions  int64   `json:"instructions"`
	Measurements  int     `json:"numMeasurements"`
	Resets        int     `json:"numResets"`
	Calls         uint64  `json:"numMpiCalls"`
	Parallels     uint64  `json:"numOmpParallels"`
	Tasks         uint64  `json:"numOmpTasks"`
	Elapsed       int64   `json:"elapsedTime"`
	Useful        int64   `json:"usefulTime"`
	MPI           int64   `json:"mpiTime"`
	LoadImbalance int64   `json:"ompLoadImbalanceTime"`
	Scheduling    int64   `json:"ompSchedulingTime"`
	Serialization int64   `json:"ompSerializationTime"`
}

type talpResources struct {
	CPUs  int `json:"numCpus"`
	Nodes int `json:"numNodes"`
	Ranks int `json:"numMpiRanks"`
}

// talpFile is the file. TALP names its region of the whole program Global.
type talpFile struct {
	Version     string                   `json:"dlbVersion"`
	Timestamp   string                   `json:"timestamp"`
	Resources   talpResources            `json:"resources"`
	Application map[string]talpJSON      `json:"Application"`
	Process     map[string][]talpProcess `json:"Process"`
}

func talpRegion(m efficiency.TALPMetrics) talpJSON {
	return talpJSON{CPUs: m.CPUs, Ranks: m.Ranks, Nodes: m.Nodes, AvgCPUs: float64(m.CPUs), Measurements: 1, Calls: m.Calls, Parallels: m.Parallels,
		Tasks: m.Tasks, Elapsed: m.Elapsed, Useful: m.Useful, MPI: m.MPI, WorkerIdle: m.WorkerIdle, LoadImbalance: m.LoadImbalance,
		Scheduling: m.Scheduling, Serialization: m.Serialization, Parallel: m.ParallelEfficiency, MPIParallel: m.MPIParallel,
		MPICommunication: m.MPICommunication, MPIBalance: m.MPIBalance, MPIBalanceIn: m.MPIBalanceIn, MPIBalanceOut: m.MPIBalanceOut,
		OMPParallel: m.OMPParallel, OMPBalance: m.OMPBalance, OMPScheduling: m.OMPScheduling, OMPSerialization: m.OMPSerialization}
}

// WriteTALP writes the file that TALP would have written of the run. dlbVersion names the tool that
// measured. The processors on which a process ran are not known, so cpuset is empty.
func WriteTALP(w io.Writer, r *efficiency.Run, o Options) error {
	m := r.TALP()
	file := talpFile{Version: "ompp-attach " + o.Tool, Timestamp: r.Ended.Format(time.RFC3339),
		Resources: talpResources{m.CPUs, m.Nodes, m.Ranks}, Application: map[string]talpJSON{"Global": talpRegion(m)}}
	nodes := map[string]int{}
	var processes []talpProcess
	for i := range r.Processes {
		p := &r.Processes[i]
		if _, ok := nodes[p.Host]; !ok {
			nodes[p.Host] = len(nodes)
		}
		t := &p.TALP
		processes = append(processes, talpProcess{Rank: p.Rank, PID: p.PID, Node: nodes[p.Host], Host: p.Host, CPUSet: []int{}, CPUs: p.Threads,
			AvgCPUs: float64(p.Threads), Measurements: 1, Calls: p.Calls, Parallels: t.Parallels, Tasks: t.Tasks, Elapsed: p.Wall, Useful: t.Useful, MPI: t.MPI,
			LoadImbalance: t.LoadImbalance, Scheduling: t.Scheduling, Serialization: t.Serialization})
	}
	file.Process = map[string][]talpProcess{"Global": processes}
	return encode(w, file)
}
