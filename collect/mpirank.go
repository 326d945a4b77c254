package collect

import (
	"encoding/binary"
	"fmt"
	"os"

	"ompp-attach/probes"
	"ompp-attach/symbols"
)

var threadLevels = [...]string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}

// begin notes what the end of MPI_Init told; mu is held.
func (q *mpiProcess) begin(w *probes.MPIWorld) {
	if w.Size > 0 {
		q.job.Rank, q.job.Size = w.Rank, w.Size
	}
	if w.Level >= 0 && w.Level < len(threadLevels) {
		q.job.Level = threadLevels[w.Level]
	}
}

// worldOf reads rank and size of MPI_COMM_WORLD from a running process's memory.
func worldOf(pid int, mod *symbols.Module, l *probes.MPILibrary) (probes.MPIWorld, bool) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return probes.MPIWorld{}, false
	}
	defer f.Close()
	return l.World(mod.Bias, func(addr uint64, n int) (uint64, error) {
		var b [8]byte
		if _, err := f.ReadAt(b[:n], int64(addr)); err != nil {
			return 0, err
		}
		return binary.LittleEndian.Uint64(b[:]), nil
	})
}
