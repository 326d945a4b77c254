package xmltrace_test

import (
	"fmt"
	"io"
	"testing"

	"ompp-attach/hiera"
	"ompp-attach/hiera/hieratest"
)

// paper reads the generated traces of the paper's four processes.
func paper(t *testing.T, write func(io.Writer, int) error) *hiera.Statistics {
	t.Helper()
	s, err := hieratest.Load(write, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkLevels(t *testing.T, s *hiera.Statistics, table string, want [][]uint64, all uint64) {
	t.Helper()
	for rank, p := range s.Processes {
		if fmt.Sprint(p.Levels) != fmt.Sprint(want[rank]) {
			t.Errorf("%s, process %d: %v, want %v", table, rank, p.Levels, want[rank])
		}
	}
	if got := s.Operations(); got != all {
		t.Errorf("%s: %d operations, want %d", table, got, all)
	}
}

// checkOperations compares the sums of single operations, and of all. Of those in want, a category
// of "" stands for all categories.
func checkOperations(t *testing.T, s *hiera.Statistics, table string, want []hieratest.Count) {
	t.Helper()
	got := map[hieratest.Count]int{}
	sum, all := 0, 0
	for _, r := range s.ByOperation() {
		got[hieratest.Count{Category: r.Category, Name: r.Name}] += int(r.Count)
		got[hieratest.Count{Name: r.Name}] += int(r.Count)
		all += int(r.Count)
	}
	for _, c := range want {
		if n := got[hieratest.Count{Category: c.Category, Name: c.Name}]; n != c.Count {
			t.Errorf("%s: %s %s: %d, want %d", table, c.Category, c.Name, n, c.Count)
		}
		sum += c.Count
	}
	if sum != all {
		t.Errorf("%s: the rows' sum is %d, and %d operations were read", table, sum, all)
	}
}

func checkPlaces(t *testing.T, p *hiera.Tally, table string, want []hieratest.Count) {
	t.Helper()
	for _, c := range want {
		f := p.Places[hiera.Place{Category: c.Category, Name: c.Name, File: c.File, Line: c.Line}]
		if f == nil || f.Count != uint64(c.Count) {
			t.Errorf("%s: %+v: %+v", table, c, f)
		}
	}
}

// Tables 1 to 5.
func TestPaperMPI(t *testing.T) {
	s := paper(t, hieratest.MPIVersion)
	checkLevels(t, s, "Table 1", [][]uint64{{2396}, {2144}, {2144}, {2144}}, 8828)
	checkPlaces(t, s.Processes[0], "Table 2", hieratest.Table2)
	if got := len(s.Processes[0].Places); got != len(hieratest.Table2) {
		t.Errorf("Table 2 has %d rows, want %d", got, len(hieratest.Table2))
	}
	checkOperations(t, s, "Table 3", []hieratest.Count{
		{Category: hiera.MPI, Name: "allgather", Count: 8}, {Category: hiera.MPI, Name: "allgatherv", Count: 1608},
		{Category: hiera.MPI, Name: "broadcast", Count: 36}, {Category: hiera.MPI, Name: "comm_split", Count: 8},
		{Category: hiera.MPI, Name: "receive", Count: 378}, {Category: hiera.MPI, Name: "reduce", Count: 6400},
		{Category: hiera.MPI, Name: "scan", Count: 4}, {Category: hiera.MPI, Name: "send", Count: 378},
		{Category: hiera.MPI, Name: "type_commit", Count: 4}, {Category: hiera.MPI, Name: "type_contiguous", Count: 4},
	})
	costs := []string{"6.4", "5.9", "5.9", "5.9"}
	shares := []string{"27.8", "52.2", "56.5", "55.4"}
	for rank, p := range s.Processes {
		want := hieratest.MPITimes[rank]
		if p.Communication != want.Communication || p.Total() != want.Total {
			t.Errorf("Table 4, process %d: %d of %d", rank, p.Communication, p.Total())
		}
		if got := fmt.Sprintf("%.1f", 100*float64(p.Communication)/float64(p.Shared())); got != shares[rank] {
			t.Errorf("Table 4, process %d: %s %% communication", rank, got)
		}
		share, _ := p.Cost(want.Plain)
		if got := fmt.Sprintf("%.1f", 100*share); got != costs[rank] {
			t.Errorf("Table 5, process %d: %s %%", rank, got)
		}
	}
	for _, x := range s.Pairs() {
		want := uint64(3)
		if x.To == 0 {
			want = 123
		}
		if x.From != 0 && x.To != 0 || x.Sent.Messages != want {
			t.Errorf("%d to %d: %+v", x.From, x.To, x)
		}
	}
}

// Tables 6 to 9.
func TestPaperOOPS(t *testing.T) {
	if testing.Short() {
		t.Skip("1,278,588 operations")
	}
	s := paper(t, hieratest.OOPSVersion)
	checkLevels(t, s, "Table 6", [][]uint64{{101756, 165476, 100811}, {101756, 100948, 100811}, {101756, 100948, 100811}, {101756, 100948, 100811}}, 1278588)
	const mpi, oops = hiera.MPI, hiera.OOPS
	checkPlaces(t, s.Processes[2], "Table 7", hieratest.Table7)
	// The paper's 12 scans are of both categories: Table 7 has one of mpi and two of oops.
	checkOperations(t, s, "Table 8", []hieratest.Count{
		{Category: mpi, Name: "allgather", Count: 8}, {Category: mpi, Name: "allgatherv", Count: 8}, {Category: mpi, Name: "allreduce", Count: 3200},
		{Category: mpi, Name: "broadcast", Count: 36}, {Category: mpi, Name: "reduce", Count: 400000}, {Name: "scan", Count: 12},
		{Category: oops, Name: "broadcast", Count: 72}, {Category: oops, Name: "distributionBlocked", Count: 4}, {Category: oops, Name: "gather", Count: 3712},
		{Category: oops, Name: "load", Count: 16}, {Category: oops, Name: "localSize", Count: 32800}, {Category: oops, Name: "localToGlobal", Count: 32016},
		{Category: oops, Name: "scatter", Count: 32}, {Category: oops, Name: "split", Count: 16}, {Category: oops, Name: "store", Count: 240},
		{Category: oops, Name: "sum", Count: 806400}, {Category: oops, Name: "topologyGrid", Count: 4}, {Category: oops, Name: "topologyPipe", Count: 12},
	})
	want := []string{"0.82", "0.77", "0.77", "0.77"}
	for rank, p := range s.Processes {
		share, each := p.Cost(hieratest.OOPSTimes[rank].Plain)
		if got := fmt.Sprintf("%.2f", 100*share); got != want[rank] || each < 5000 || each > 6100 {
			t.Errorf("Table 9, process %d: %s %%, %.0f ns for each operation", rank, got, each)
		}
		if p.Overlaps != 0 || p.Exclusive[oops] != 0 || p.Communication != p.Exclusive[mpi] {
			t.Errorf("process %d: %d overlaps, exclusive %v", rank, p.Overlaps, p.Exclusive)
		}
	}
}
