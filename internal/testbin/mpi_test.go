package testbin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// moved is what one line of a program does on one rank.
type moved struct {
	calls         uint64
	out, in       [2]uint64
	read, written uint64
}

// annotations reads what a program's comments say of its lines: see mpi_p2p.c.
// A list has one value for all ranks or one each.
func annotations(t *testing.T, src string, ranks int) map[int][]moved {
	t.Helper()
	text, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	mark := " //= "
	if strings.HasPrefix(filepath.Ext(src), ".f") {
		mark = " !="
	}
	lines := map[int][]moved{}
	for i, line := range strings.Split(string(text), "\n") {
		_, note, ok := strings.Cut(line, mark)
		if !ok {
			continue
		}
		want := make([]moved, ranks)
		for r := range want {
			want[r].calls = 1
		}
		fields := strings.Fields(note)
		for len(fields) > 0 {
			key, n := fields[0], 1
			for n < len(fields) && fields[n][0] >= '0' && fields[n][0] <= '9' {
				n++
			}
			values := fields[1:n]
			fields = fields[n:]
			if len(values) != 1 && len(values) != ranks {
				t.Fatalf("%s:%d: %d values for %s", src, i+1, len(values), key)
			}
			for r := range want {
				v := values[min(r, len(values)-1)]
				a, b, pair := strings.Cut(v, "/")
				if !pair {
					b = a
				}
				naive, err1 := strconv.ParseUint(a, 10, 64)
				minimal, err2 := strconv.ParseUint(b, 10, 64)
				if err1 != nil || err2 != nil {
					t.Fatalf("%s:%d: %q", src, i+1, v)
				}
				switch key {
				case "n":
					want[r].calls = naive
				case "out":
					want[r].out = [2]uint64{naive, minimal}
				case "in":
					want[r].in = [2]uint64{naive, minimal}
				case "read":
					want[r].read = naive
				case "written":
					want[r].written = naive
				default:
					t.Fatalf("%s:%d: what is %q?", src, i+1, key)
				}
			}
		}
		lines[i+1] = want
	}
	return lines
}

var counted = []*regexp.Regexp{
	regexp.MustCompile(`^mpi_i?[bsr]?send(recv)?(_replace)?(_c)?$`),
	regexp.MustCompile(`^mpi_(i?m?recv|sendrecv(_replace)?)(_c)?$`),
	regexp.MustCompile(`^mpi_i?(neighbor_)?(barrier|bcast|gatherv?|scatterv?|allgatherv?|allreduce|alltoall[vw]?|reduce|reduce_scatter(_block)?|scan|exscan)(_c)?$`),
}

// counters are ompP's sendC, recvC, collC of n calls of an operation.
func counters(op string, n uint64) [3]uint64 {
	var c [3]uint64
	for i, re := range counted {
		if re.MatchString(strings.ToLower(op)) {
			c[i] = n
		}
	}
	return c
}

// The truth is right: every line of every program does what was worked out by
// hand.
func TestMPITruth(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs nine MPI programs")
	}
	const ranks = 3
	for _, tc := range []struct {
		src   string
		flags []string
		mpis  []MPI
	}{
		{src: "mpi_p2p.c"},
		{src: "mpi_coll.c"},
		{src: "mpi_objects.c"},
		{src: "mpi_rma_io.c"},
		{src: "mpi_large.c", mpis: []MPI{MPICH}}, // MPI 4
		{src: "mpi_f08.f90"},
		{src: "mpi_use.f90"},
		{src: "mpi_mpif.f", flags: []string{"-ffixed-line-length-132", "-fallow-argument-mismatch"}},
		{src: "mpi_cxx.cpp"},
	} {
		if tc.mpis == nil {
			tc.mpis = []MPI{OpenMPI, MPICH}
		}
		for _, m := range tc.mpis {
			t.Run(fmt.Sprintf("%s %s", tc.src, m), func(t *testing.T) {
				bin := m.Build(t, tc.src, Options{NoOpenMP: true, Flags: append([]string{"-O1", "-g"}, tc.flags...)})
				src := filepath.Join(Repo(t), "testdata", "programs", tc.src)
				truth := m.RunTruth(t, ranks, nil, bin, filepath.Join(t.TempDir(), "file"))
				asAnnotated(t, truth, annotations(t, src, ranks), tc.src)
			})
		}
	}
}

func asAnnotated(t *testing.T, truth map[int]*MPIRank, lines map[int][]moved, file string) {
	t.Helper()
	for r := range 3 {
		if truth[r] == nil || truth[r].Size != 3 {
			t.Fatalf("no counts of rank %d of 3", r)
		}
		got := map[int]moved{}
		for _, s := range truth[r].Sites {
			// C++ bindings are inlined from a header.
			if s.Helper || s.File == "mpicxx.h" || strings.HasSuffix(s.File, "_inln.h") {
				continue
			}
			if s.File != file || s.Line == 0 {
				t.Errorf("rank %d: %s called at %s:%d of %s", r, s.Op, s.File, s.Line, s.Object)
				continue
			}
			g := got[s.Line]
			g.calls += s.Calls
			for a := range 2 {
				g.out[a] += s.Out[a]
				g.in[a] += s.In[a]
			}
			g.read += s.Read
			g.written += s.Written
			got[s.Line] = g
			// A persistent operation counts where it is started, by another rule.
			if want := counters(s.Op, s.Calls); s.Started == 0 && [3]uint64{s.Sends, s.Recvs, s.Colls} != want {
				t.Errorf("rank %d line %d: %s counts %d sends, %d receives, %d collectives, want %d", r, s.Line, s.Op, s.Sends, s.Recvs, s.Colls, want)
			}
		}
		for line, want := range lines {
			if got[line] != want[r] {
				t.Errorf("rank %d line %d: %+v, want %+v", r, line, got[line], want[r])
			}
		}
		for line, g := range got {
			// gfortran 12 gives calls without a constant among their arguments
			// the line of the program statement.
			if strings.HasPrefix(filepath.Ext(file), ".f") {
				g.calls = 1
			}
			if _, ok := lines[line]; !ok && g != (moved{calls: 1}) {
				t.Errorf("rank %d line %d: %+v, want one call that moves nothing", r, line, g)
			}
		}
	}
}
