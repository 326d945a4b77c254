package collect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
	"ompp-attach/collect/advice"
	"ompp-attach/collect/places"
	"ompp-attach/probes/mpilib"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// store stands in for the kernel side: it numbers the rows that it gets.
type store struct{ rows []*bpf.MPIRow }

func (*store) AddLibrary(*bpf.MPILibrary) (uint32, error) { return 0, nil }
func (s *store) AddRow(r *bpf.MPIRow) (uint32, error) {
	s.rows = append(s.rows, r)
	return uint32(len(s.rows) - 1), nil
}

// From the moment when a process's library is doubted, its calls have no volume. Calls of other
// processes have one.
func TestNoVolumesOfADoubtedLibrary(t *testing.T) {
	lib := filepath.Join(t.TempDir(), "libmpi.so")
	src := lib + ".c"
	if err := os.WriteFile(src, []byte("int MPI_Send(const void *b, int n, int type, int to, int tag, int comm) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", lib, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o, err := symbols.OpenObject(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	plan, err := mpilib.NewPlan(o, false)
	if err != nil {
		t.Fatal(err)
	}
	m := assemble(&common{})
	a, err := m.reader.mpiReading.decoder.Store(&store{}, plan)
	if err != nil || len(a.Points()) != 1 {
		t.Fatalf("%d points, %v; want one", len(a.Points()), err)
	}
	const doubted, sound = 5, 6
	for _, pid := range []uint32{doubted, sound} {
		m.reader.procs[pid] = &Process{pid: pid, reading: reading{engine: attribution.New(pid, places.NewResolver(symbols.NewProcess(int(pid)), places.Wanted{})), usage: advice.NewUsage()}}
	}
	send := func(at uint64) {
		for pid := range m.reader.procs {
			r := &bpf.MPIRecord{}
			r.Pid, r.Tid, r.Row, r.Start, r.Time, r.Send = pid, pid, uint16(a.Points()[0].Row), at, at+1, 100
			m.reader.feedMPI(r)
		}
	}
	send(1000)
	m.reader.procs[doubted].rank.Job = &profile.MPIJob{}
	m.reader.procs[doubted].rank.Doubt(errors.New("a test"))
	send(2000)
	for pid, want := range map[uint32]uint64{doubted: 1, sound: 0} {
		p := m.reader.procs[pid].engine.Finish(3000)
		got := p.Nodes[0].Stats[0].MPI
		if got.Calls != 2 || got.Unknown != want || got.Out[0] != 100*(2-want) {
			t.Errorf("process %d: %d calls, %d of them of unknown volume, %d bytes sent; want 2, %d, %d", pid, got.Calls, got.Unknown, got.Out[0], want, 100*(2-want))
		}
	}
}
