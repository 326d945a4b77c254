package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	jobs "ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// traffic is what a call site exchanged with whom, by ranks in communicators and, if all are known,
// in MPI_COMM_WORLD; and the sizes.
type traffic struct {
	local, world          map[string]profile.Exchange
	unknown               bool // of world
	sent, received, moved profile.Sizes
}

func newTraffic() *traffic {
	return &traffic{local: map[string]profile.Exchange{}, world: map[string]profile.Exchange{}}
}

func (t *traffic) add(local, world int, x profile.Exchange) {
	for m, rank := range map[*map[string]profile.Exchange]int{&t.local: local, &t.world: world} {
		who := fmt.Sprint(rank)
		if rank < 0 {
			who = "any"
		}
		sum := (*m)[who]
		sum.Add(x)
		(*m)[who] = sum
	}
}

func (t *traffic) text(byWorld bool) string {
	m := t.local
	if byWorld {
		m = t.world
	}
	var b strings.Builder
	for _, who := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s %+v ", who, m[who])
	}
	fmt.Fprintf(&b, "sent %v received %v moved %v", t.sent, t.received, t.moved)
	return b.String()
}

func trueTraffic(r *testbin.MPIRank, g grain) map[callSite]*traffic {
	out := map[callSite]*traffic{}
	op := operationsOf(r)
	for _, s := range r.Sites {
		if s.Helper {
			continue
		}
		s.Op = op(s)
		at := g.of(callSite{s.File, s.Line, s.Op, s.Thread})
		if out[at] == nil {
			out[at] = newTraffic()
		}
		t := out[at]
		for _, p := range s.Partners {
			t.add(p.Local, p.World, profile.Exchange{Sends: p.Sends, Recvs: p.Recvs, Out: p.Out, In: p.In})
		}
		t.sent, t.received, t.moved = t.sent.Plus(s.SentSizes), t.received.Plus(s.ReceivedSizes), t.moved.Plus(s.MovedSizes)
	}
	return out
}

func toolTraffic(j *jobs.Job, rank int, p *profile.Profile, g grain) map[callSite]*traffic {
	out := map[callSite]*traffic{}
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Construct != event.MPI {
			continue
		}
		r := &p.Regions[n.Region]
		for _, s := range n.Stats {
			at := g.of(callSite{base(r.Location.File), r.Location.Begin, r.Name, p.Threads[s.Thread].Num})
			if out[at] == nil {
				out[at] = newTraffic()
			}
			t, own := out[at], s.Traffic
			if own == nil {
				continue
			}
			for _, x := range own.Partners {
				world, ok := j.Traffic.WorldRank(rank, x.Comm, x.Rank)
				if x.Rank == mpi.AnySource {
					world, ok = int(x.Rank), true
				}
				t.unknown = t.unknown || !ok
				t.add(int(x.Rank), world, x.Exchange)
			}
			t.sent, t.received, t.moved = t.sent.Plus(own.Sent), t.received.Plus(own.Received), t.moved.Plus(own.Moved)
		}
	}
	return out
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// merge reads profiles as a job of their ranks.
func merge(t *testing.T, profiles []*profile.Profile) *jobs.Job {
	t.Helper()
	var sources []jobs.Source
	for i, p := range profiles {
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, jobs.Source{Name: jobs.FileName(i, 0), Rank: i,
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }})
	}
	j, err := jobs.Read(sources, jobs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// sameTraffic compares partners and sizes of a rank with the truth, site by site. It returns the
// sites of which not all partners' ranks in MPI_COMM_WORLD are known.
func sameTraffic(t *testing.T, j *jobs.Job, p *profile.Profile, truth *testbin.MPIRank, g grain) (unknown []string) {
	t.Helper()
	got := toolTraffic(j, truth.Rank, p, g)
	for at, want := range trueTraffic(truth, g) {
		have := got[at]
		if have == nil { // sameCalls tells
			continue
		}
		if have.unknown {
			unknown = append(unknown, at.String())
		}
		if a, b := have.text(!have.unknown), want.text(!have.unknown); a != b {
			t.Errorf("rank %d: %s:\n     %s\nwant %s", truth.Rank, at, a, b)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// TestMPIPartners: for each call site it is known with whom it exchanged how much, in which sizes.
// The communicators and windows were made in all ways of which the ranks can be told. All are
// known.
func TestMPIPartners(t *testing.T) {
	atOnce(t)
	for _, tc := range []struct {
		m       testbin.MPI
		cc, opt string
	}{{testbin.OpenMPI, "gcc", "-O0"}, {testbin.OpenMPI, "clang-14", "-O3"}, {testbin.MPICH, "gcc", "-O3"}, {testbin.MPICH, "clang-14", "-O0"}} {
		t.Run(fmt.Sprintf("%s %s %s", tc.m, tc.cc, tc.opt), func(t *testing.T) {
			bin := tc.m.BuildWith(t, tc.cc, "mpi_partners.c", testbin.Options{Flags: []string{tc.opt, "-g"}, NoOpenMP: true})
			truth := tc.m.RunTruth(t, 6, nil, bin)
			profiles := runJob(t, tc.m, 6, options{}, bin)
			j := merge(t, profiles)
			for r, p := range profiles {
				complete(t, p)
				if unknown := sameTraffic(t, j, p, truth[r], byLine); unknown != nil {
					t.Errorf("rank %d: not known who the partners are: %v", r, unknown)
				}
			}
		})
	}
}

// TestMPIAnySource: with --waits, nonblocking receives from any source and MPI_Mrecv tell from whom
// they received: in mpi_partners.c one message from each rank. All else is as without.
func TestMPIAnySource(t *testing.T) {
	atOnce(t)
	for _, m := range bothMPIs {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			bin := m.BuildWith(t, "gcc", "mpi_partners.c", testbin.Options{Flags: []string{"-O1", "-g"}, NoOpenMP: true})
			truth := m.RunTruth(t, 6, nil, bin)
			profiles := runJob(t, m, 6, options{flags: []string{"--waits"}}, bin)
			j := merge(t, profiles)
			told, untold := map[string]int{}, 0
			for r, p := range profiles {
				complete(t, p)
				got := toolTraffic(j, r, p, byLine)
				for at, want := range trueTraffic(truth[r], byLine) {
					if all, any := want.world["any"]; any && at.op != "MPI_Recv" {
						told[at.op]++
						for _, m := range []map[string]profile.Exchange{want.local, want.world} {
							delete(m, "any")
							for rank := 1; rank < 6; rank++ {
								m[fmt.Sprint(rank)] = profile.Exchange{Recvs: all.Recvs / 5, In: all.In / 5}
							}
						}
					} else if any {
						untold++
					}
					have := cmp.Or(got[at], newTraffic())
					if a, b := have.text(true), want.text(true); a != b {
						t.Errorf("rank %d: %s:\n     %s\nwant %s", r, at, a, b)
					}
				}
			}
			if told["MPI_Irecv"] != 1 || told["MPI_Mrecv"] != 1 || untold != 1 {
				t.Errorf("%v call sites should tell, %d not: the program is another one", told, untold)
			}
		})
	}
}
