package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// callSite is where a rank's thread called what.
type callSite struct {
	file   string
	line   int
	op     string
	thread int
}

func (s callSite) String() string {
	return fmt.Sprintf("%s:%d %s thread %d", s.file, s.line, s.op, s.thread)
}

// mpiFigures are what tool and truth must agree on, times apart: the two see
// different runs.
type mpiFigures struct {
	Calls, Sends, Recvs, Colls uint64
	Out, In, Min, Max          [mpi.NumAccountings]uint64
	Read, Written              uint64
	Unknown                    uint64 // always 0 in the truth
}

// add joins figures of one place.
func (f *mpiFigures) add(g mpiFigures) {
	moved := func(f *mpiFigures) bool { return f.Max[0] > 0 || f.Max[1] > 0 }
	for a := range f.Out {
		switch {
		case !moved(&g):
		case !moved(f):
			f.Min[a] = g.Min[a]
		default:
			f.Min[a] = min(f.Min[a], g.Min[a])
		}
		f.Out[a] += g.Out[a]
		f.In[a] += g.In[a]
	}
	for a := range f.Max {
		f.Max[a] = max(f.Max[a], g.Max[a])
	}
	f.Calls += g.Calls
	f.Sends += g.Sends
	f.Recvs += g.Recvs
	f.Colls += g.Colls
	f.Read += g.Read
	f.Written += g.Written
	f.Unknown += g.Unknown
}

// grain says what makes a call site.
type grain int

const (
	byLine      grain = iota
	byLineAlone       // whichever thread called: it is not the same in every run
	byOperation       // wherever it was called: no lines are known, or a header's
)

func (g grain) of(s callSite) callSite {
	switch g {
	case byLineAlone:
		s.thread = 0
	case byOperation:
		s.file, s.line = "", 0
	}
	return s
}

// pair orders the truth's figures as the profile does.
func pair(x [2]uint64) (out [mpi.NumAccountings]uint64) {
	out[mpi.Naive], out[mpi.Minimal] = x[0], x[1]
	return out
}

// operationsOf tells to which operation the report adds what a site of the truth
// has: what persistent operations move, to what starts them there.
func operationsOf(r *testbin.MPIRank) func(testbin.MPISite) string {
	starts := map[callSite]string{}
	for _, s := range r.Sites {
		if s.Op == "MPI_Start" || s.Op == "MPI_Startall" {
			starts[callSite{s.File, s.Line, "", s.Thread}] = s.Op
		}
	}
	return func(s testbin.MPISite) string {
		if op := starts[callSite{s.File, s.Line, "", s.Thread}]; s.Calls == 0 && op != "" {
			return op
		}
		return s.Op
	}
}

// trueSites also returns where bindings call MPI for their own purposes: the tool
// may show that, at the user's line, because it cannot tell.
func trueSites(r *testbin.MPIRank, g grain) (sites map[callSite]*mpiFigures, helpers map[callSite]bool) {
	sites, helpers = map[callSite]*mpiFigures{}, map[callSite]bool{}
	op := operationsOf(r)
	for _, s := range r.Sites {
		s.Op = op(s)
		at := g.of(callSite{s.File, s.Line, s.Op, s.Thread})
		if s.Helper {
			helpers[at] = true
			continue
		}
		addTo(sites, at, mpiFigures{Calls: s.Calls, Sends: s.Sends, Recvs: s.Recvs, Colls: s.Colls,
			Out: pair(s.Out), In: pair(s.In), Min: pair(s.Min), Max: pair(s.Max), Read: s.Read, Written: s.Written})
	}
	return sites, helpers
}

func toolSites(p *profile.Profile, g grain) map[callSite]*mpiFigures {
	out := map[callSite]*mpiFigures{}
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Construct != event.MPI {
			continue
		}
		r := p.Regions[n.Region]
		for _, s := range n.Stats {
			f := mpiFigures{Calls: s.Exec.C}
			if m := s.MPI; m != nil {
				f.Sends, f.Recvs, f.Colls, f.Read, f.Written, f.Unknown = m.Sends, m.Recvs, m.Colls, m.Read, m.Written, m.Unknown
				f.Out, f.In, f.Min, f.Max = m.Out, m.In, m.Min, m.Max
			}
			file := r.Location.File
			if file != "" {
				file = filepath.Base(file)
			}
			addTo(out, g.of(callSite{file, r.Location.Begin, r.Name, p.Threads[s.Thread].Num}), f)
		}
	}
	return out
}

func addTo(sites map[callSite]*mpiFigures, s callSite, f mpiFigures) {
	if s.line == 0 { // extremes of several places, of which some may move nothing
		f.Min, f.Max = [mpi.NumAccountings]uint64{}, [mpi.NumAccountings]uint64{}
	}
	if sites[s] == nil {
		sites[s] = &mpiFigures{}
	}
	sites[s].add(f)
}

// sameCalls compares a rank's profile with the truth, site by site.
func sameCalls(t *testing.T, p *profile.Profile, truth *testbin.MPIRank, g grain) {
	t.Helper()
	got := toolSites(p, g)
	want, helpers := trueSites(truth, g)
	var all []callSite
	for s := range want {
		all = append(all, s)
	}
	for s := range got {
		if want[s] == nil {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b callSite) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.op, b.op), cmp.Compare(a.thread, b.thread))
	})
	for _, s := range all {
		switch {
		case helpers[s]:
			if got[s] != nil && *got[s] != (mpiFigures{Calls: got[s].Calls}) {
				t.Errorf("rank %d: %s: %+v of a binding's own call", truth.Rank, s, *got[s])
			}
		case got[s] == nil:
			t.Errorf("rank %d: %s: not in the profile, want %+v", truth.Rank, s, *want[s])
		case want[s] == nil:
			t.Errorf("rank %d: %s: in the profile, but not called: %+v", truth.Rank, s, *got[s])
		case *got[s] != *want[s]:
			t.Errorf("rank %d: %s:\n     %+v\nwant %+v", truth.Rank, s, *got[s], *want[s])
		}
	}
}

// runJob measures a job, started by the launcher under the tool, and returns its
// ranks' profiles.
func runJob(t *testing.T, m testbin.MPI, ranks int, opt options, bin string, args ...string) []*profile.Profile {
	t.Helper()
	m.Need(t)
	opt.env = append(m.LaunchEnv(t), opt.env...)
	line := m.Launch(ranks, append([]string{bin}, args...)...)
	s := run(t, opt, line[0], line[1:]...)
	if s.exit != 0 {
		t.Fatalf("%s: exit status %d\nstdout: %s\nstderr: %s", strings.Join(line, " "), s.exit, s.stdout, s.stderr)
	}
	return s.ranks(t, ranks)
}

// ranks returns the profiles of a job's ranks, of which there must be so many.
func (s *session) ranks(t *testing.T, n int) []*profile.Profile {
	t.Helper()
	out := make([]*profile.Profile, n)
	for name, p := range s.others {
		j := p.Meta.MPI
		if j == nil || j.Rank < 0 || j.Rank >= n || out[j.Rank] != nil {
			t.Fatalf("%s is no rank's, or not the first of it: %+v", name, j)
		}
		if j.Size != n {
			t.Errorf("%s is of a job of %d ranks, want %d", name, j.Size, n)
		}
		out[j.Rank] = p
	}
	for r, p := range out {
		if p == nil {
			t.Fatalf("no profile of rank %d\n%s", r, s.stderr)
		}
	}
	return out
}

// Per call site, thread and rank: calls, ompP's counters and the bytes by both
// accountings are those that a library between program and MPI counted.
func TestMPICounts(t *testing.T) {
	atOnce(t)
	fixed := []string{"-O1", "-g", "-ffixed-line-length-132", "-fallow-argument-mismatch"}
	for _, tc := range []struct {
		src     string
		ranks   []int // of Open MPI, of MPICH; 0: not at all
		threads int
		args    []string
		flags   []string
		grain   grain
	}{
		{src: "mpi_p2p.c", ranks: []int{3, 1}},
		{src: "mpi_coll.c", ranks: []int{4, 3}},
		{src: "mpi_coll.c", ranks: []int{1, 2}, flags: []string{"-O3", "-g", "-no-pie"}},
		{src: "mpi_objects.c", ranks: []int{3, 4}},
		{src: "mpi_rma_io.c", ranks: []int{2, 3}, args: []string{"FILE"}},
		{src: "mpi_large.c", ranks: []int{0, 3}},
		{src: "mpi_f08.f90", ranks: []int{3, 2}},
		{src: "mpi_use.f90", ranks: []int{2, 2}},
		{src: "mpi_mpif.f", ranks: []int{2, 2}, flags: fixed},
		{src: "mpi_cxx.cpp", ranks: []int{2, 2}, grain: byOperation},
		{src: "mpi_hybrid.c", ranks: []int{2, 2}, threads: 2, args: []string{"multiple"}},
		{src: "mpi_hybrid.c", ranks: []int{0, 2}, threads: 2, args: []string{"master"}},
		{src: "mpi_hybrid.c", ranks: []int{2, 0}, threads: 2, args: []string{"single"}, grain: byLineAlone},
		{src: "mpi_hybrid.c", ranks: []int{0, 2}, threads: 2, args: []string{"tasks"}, grain: byLineAlone},
		{src: "mpi_hybrid.c", ranks: []int{2, 0}, threads: 2, args: []string{"funneled"}},
	} {
		if tc.flags == nil {
			tc.flags = []string{"-O1", "-g"}
		}
		for i, m := range []testbin.MPI{testbin.OpenMPI, testbin.MPICH} {
			n := tc.ranks[i]
			if n == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %s %d", tc.src, strings.Join(tc.args, " "), m, n), func(t *testing.T) {
				t.Parallel()
				bin := m.Build(t, tc.src, testbin.Options{Flags: tc.flags, NoOpenMP: tc.threads == 0})
				args := slices.Clone(tc.args)
				if len(args) > 0 && args[0] == "FILE" {
					args[0] = filepath.Join(t.TempDir(), "file")
				}
				mpiCounts(t, m, n, max(1, tc.threads), tc.grain, bin, args...)
			})
		}
	}
}

// mpiCounts compares each of n ranks' profiles with what was counted between the
// program and MPI.
func mpiCounts(t *testing.T, m testbin.MPI, n, threads int, g grain, bin string, args ...string) {
	t.Helper()
	truth := m.RunTruth(t, n, threadsEnv(threads), append([]string{bin}, args...)...)
	profiles := runJob(t, m, n, options{env: threadsEnv(threads), flags: []string{"--mpi-all"}}, bin, args...)
	j := merge(t, profiles)
	for r, p := range profiles {
		complete(t, p)
		balanced(t, p)
		sameCalls(t, p, truth[r], g)
		sameTraffic(t, j, p, truth[r], g)
	}
}

// mpi4py: calls from a library that the interpreter opened.
func TestMPIPython(t *testing.T) {
	atOnce(t)
	const python = "/usr/bin/python3"
	script := filepath.Join(testbin.Repo(t), "testdata", "programs", "mpi_calls.py")
	m := testbin.OpenMPI // Debian's mpi4py is built for it
	m.NeedPython(t, python)
	truth := m.RunTruth(t, 2, nil, python, script)
	for r, p := range runJob(t, m, 2, options{flags: []string{"--mpi-all"}}, python, script) {
		complete(t, p)
		sameCalls(t, p, truth[r], byOperation)
	}
}
