package e2e

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	jobs "ompp-attach/job"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// noted is a call that mpi_waits.c has noted.
type noted struct {
	pattern       string
	round, rank   int
	role          string
	line          int
	before, after int64
	start, end    int64 // as the tool recorded them
}

func notesOf(t *testing.T, text string) (out []noted) {
	t.Helper()
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			continue
		}
		n := noted{pattern: f[0], role: f[3]}
		if _, err := fmt.Sscan(strings.Join([]string{f[1], f[2], f[4], f[5], f[6]}, " "), &n.round, &n.rank, &n.line, &n.before, &n.after); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, n)
	}
	return out
}

// waitPatterns are those of mpi_waits.c, with the property of their waits.
var waitPatterns = map[string]match.Property{"late sender": match.LateSender, "any source": match.LateSender, "waitall": match.LateSender,
	"late receiver": match.LateReceiver, "overtaken": match.LateReceiver, "wrong order": match.LateSender, "sendrecv": match.LateSender, "barrier": match.WaitAtBarrier, "n x n": match.WaitAtNxN,
	"broadcast": match.LateBroadcast, "reduce": match.EarlyReduce, "scan": match.EarlyScan, "nonblocking": match.WaitAtBarrier, "split": match.EarlyReduce,
	"waitsome": match.LateSender, "waitsome, rest": match.LateSender, "waitany": match.LateSender, "waitany, rest": match.LateSender,
	"any, wait": match.LateSender, "any, waitany": match.LateSender, "any, waitsome": match.LateSender, "any, waitall": match.LateSender,
	"mprobe": match.LateSender, "mprobe, any": match.LateSender, "taken": match.LateReceiver, "taken, improbe": match.LateReceiver,
	"probe": match.LateSender, "probe, any": match.LateSender, "older": match.LateSender, "ahead": match.LateSender, "asked": match.LateSender,
	"create": match.WaitAtCreate, "fence": match.WaitAtFence, "fence, put": match.WaitAtFence, "free": match.WaitAtFree,
	"late post": match.LatePost, "early wait": match.EarlyWait, "tested before": match.EarlyWait,
	"lock": match.LockContention, "lock all": match.LockContention}

// mayLeave are the properties of operations that need not wait for all: if one left before the last
// one came, nobody waited.
var mayLeave = []match.Property{match.WaitAtCreate, match.WaitAtFence, match.WaitAtFree}

// waitAt is a wait of a rank at a line for a rank at a line.
type waitAt struct {
	property              match.Property
	rank, line, due, dueL int
}

// waitTruth returns the waits that follow from what the program says of which calls belong
// together, and how many calls there are at each.
func waitTruth(notes []noted) map[waitAt]profile.Sum {
	type instance struct {
		pattern string
		round   int
	}
	late := map[instance][]noted{}
	for _, n := range notes {
		if n.role != "w" {
			late[instance{n.pattern, n.round}] = append(late[instance{n.pattern, n.round}], n)
		}
	}
	out := map[waitAt]profile.Sum{}
	for _, n := range notes {
		if n.role == "l" {
			continue
		}
		var due *noted
		for _, l := range late[instance{n.pattern, n.round}] {
			p := waitPatterns[n.pattern]
			if p == match.EarlyScan && l.rank > n.rank {
				continue
			}
			if first := p == match.EarlyReduce; due == nil || (l.start < due.start) == first {
				due = &l
			}
		}
		if due.rank == n.rank || due.start <= n.start {
			continue
		}
		left := func(o noted) bool { return o.end < due.start }
		if slices.Contains(mayLeave, waitPatterns[n.pattern]) && slices.ContainsFunc(late[instance{n.pattern, n.round}], left) {
			continue
		}
		if p := waitPatterns[n.pattern]; (p == match.LatePost || p == match.LockContention) && due.start >= n.end {
			continue // it did not wait
		}
		for _, p := range []match.Property{waitPatterns[n.pattern], match.WrongOrder, match.LateReceiverOrder} {
			if p == match.WrongOrder && n.pattern != "wrong order" || p == match.LateReceiverOrder && n.pattern != "overtaken" {
				continue
			}
			at := waitAt{p, n.rank, n.line, due.rank, due.line}
			s := out[at]
			s.Add(profile.Sum{T: min(due.start, n.end) - n.start, C: 1})
			out[at] = s
		}
	}
	return out
}

// readJob reads profiles as a job.
func readJob(t *testing.T, ranks []*profile.Profile) *jobs.Job {
	t.Helper()
	var sources []jobs.Source
	for i, p := range ranks {
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, jobs.Source{Name: jobs.FileName(i, 0), Rank: i, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }})
	}
	j, err := jobs.Read(sources, jobs.Options{Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// foundWaits returns the waits of a job by their lines.
func foundWaits(j *jobs.Job, ranks []*profile.Profile) map[waitAt]profile.Sum {
	line := func(p match.Place) int { return lineOfCall(ranks[p.Rank], p.Site) }
	out := map[waitAt]profile.Sum{}
	for _, w := range j.Waits.Waits {
		at := waitAt{w.Property, w.At.Rank, line(w.At), w.Due.Rank, line(w.Due)}
		s := out[at]
		s.Add(profile.Sum{T: w.T, C: w.Count})
		out[at] = s
	}
	return out
}

// recorded adds the times that the tool recorded to the notes. The k-th call at a line is that of
// the k-th round. It must lie between the times that the program noted around it.
func recorded(t *testing.T, notes []noted, ranks []*profile.Profile) {
	t.Helper()
	type place struct{ rank, line int }
	calls := map[place][][2]int64{}
	for rank, p := range ranks {
		for i := range p.Calls.Threads {
			for rd := p.Calls.Reader(i); ; {
				c, ok := rd.Next()
				if !ok {
					break
				}
				at := place{rank, lineOfCall(p, c.Site)}
				calls[at] = append(calls[at], [2]int64{int64(c.Start), int64(c.End)})
			}
		}
	}
	for i := range notes {
		n := &notes[i]
		at := calls[place{n.rank, n.line}]
		if n.round >= len(at) {
			t.Fatalf("%+v: the tool has %d calls there", n, len(at))
		}
		if n.start, n.end = at[n.round][0], at[n.round][1]; n.start < n.before || n.end > n.after || n.start > n.end {
			t.Errorf("%+v: the program noted other times around the call", n)
		}
	}
}

// lineOfCall returns the line of a call site.
func lineOfCall(p *profile.Profile, site int) int {
	at := p.Calls.Sites[site]
	if at.Node <= 0 {
		return 0
	}
	return p.Regions[p.Nodes[at.Node].Region].Location.Begin
}

// TestMPIWaits: the waits between ranks are those that the program knows, at the right calls. They
// are due to the right ranks and calls, and all calls are matched. Ranks may lose their cores at
// any time, so the times of single calls are those recorded, which must lie within the program's
// own notes.
func TestMPIWaits(t *testing.T) {
	atOnce(t)
	const ranks, rounds = 3, 5
	for _, m := range bothMPIs {
		for _, compiler := range []string{"gcc", "clang-19"} {
			t.Run(fmt.Sprintf("%s %s", m, compiler), func(t *testing.T) {
				m.Need(t)
				bin := m.BuildWith(t, compiler, "mpi_waits.c", testbin.Options{Flags: []string{"-O2", "-g"}})
				line := m.Launch(ranks, bin, fmt.Sprint(rounds), "20")
				s := run(t, options{env: m.LaunchEnv(t), flags: []string{"--waits"}}, line[0], line[1:]...)
				if s.exit != 0 {
					t.Fatalf("exit status %d: %s", s.exit, s.stderr)
				}
				ps := s.ranks(t, ranks)
				j := readJob(t, ps)
				notes := notesOf(t, s.stdout)
				if len(notes) != rounds*(2+2+3+4+4+4*2+4*2+2+2+2+2+5*3+6+2+4*3+4+4+3+2+2*2) {
					t.Fatalf("%d notes", len(notes))
				}
				recorded(t, notes, ps)
				for rank, p := range ps { // MPI_Init returns before the first note
					first := slices.IndexFunc(notes, func(n noted) bool { return n.rank == rank })
					if left := p.Meta.MPI.Left; left <= p.Meta.Clock.Begin.Monotonic || left >= notes[first].before {
						t.Errorf("rank %d left MPI_Init at %d, and began its first call at %d", rank, left, notes[first].before)
					}
				}
				for _, n := range []match.Count{j.Waits.Sends, j.Waits.Receives, j.Waits.Probes, j.Waits.Collectives, j.Waits.Requests, j.Waits.Epochs, j.Waits.Locks} {
					if n.Calls == 0 || n.Calls != n.Matched {
						t.Errorf("not all calls were matched: %+v", j.Waits.Result)
					}
				}
				checkBarriers(t, j, ps)
				sameWaits(t, waitTruth(notes), foundWaits(j, ps))
			})
		}
	}
}

// sameWaits compares waits. Of those found it takes those at places that the program has noted.
// Some properties may be without waits, if the library decides that.
func sameWaits(t *testing.T, want, got map[waitAt]profile.Sum, may ...match.Property) {
	t.Helper()
	properties, lines := map[match.Property]bool{}, map[int]bool{}
	for at, w := range want {
		properties[at.property], lines[at.line] = true, true
		if got[at] != w {
			t.Errorf("%+v: %+v, want %+v", at, got[at], w)
		}
	}
	for at, g := range got {
		if _, ok := want[at]; !ok && lines[at.line] && properties[at.property] {
			t.Errorf("%+v: %+v, but the program knows of no such wait", at, g)
		}
	}
	for _, p := range waitPatterns {
		if !properties[p] && !slices.Contains(may, p) {
			t.Errorf("the program never waited by property %d", p)
		}
	}
}

// checkBarriers: wait, completion and the time between the last arrival and the first leaving make
// up the time of each rank in its barriers.
func checkBarriers(t *testing.T, j *jobs.Job, ranks []*profile.Profile) {
	t.Helper()
	op := func(p *profile.Profile, node int) string { return p.Regions[p.Nodes[node].Region].Name }
	var rest []int64
	for r, p := range ranks {
		var parts, all int64
		for _, w := range j.Waits.Waits {
			if w.At.Rank == r && (w.Property == match.WaitAtBarrier || w.Property == match.BarrierCompletion) {
				if at := p.Calls.Sites[w.At.Site]; op(p, at.Node) == "MPI_Barrier" {
					parts += w.T
				}
			}
		}
		for i := range p.Calls.Threads {
			for rd := p.Calls.Reader(i); ; {
				c, ok := rd.Next()
				if !ok {
					break
				}
				if c.Op.String() == "MPI_Barrier" {
					all += int64(c.End - c.Start)
				}
			}
		}
		rest = append(rest, all-parts)
	}
	for _, r := range rest {
		if r != rest[0] || r < 0 {
			t.Errorf("between the last arrival and the first leaving were %v ns, which should be alike", rest)
		}
	}
}

// TestReusedRequests: a library gives a request's handle again once a test has completed the
// request. The calls that make requests are told, so no wait is taken for that
// of the completed one.
func TestReusedRequests(t *testing.T) {
	atOnce(t)
	const ranks, rounds = 2, 10
	for _, m := range bothMPIs {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			m.Need(t)
			bin := m.Build(t, "mpi_requests.c", testbin.Options{})
			line := m.Launch(ranks, bin, fmt.Sprint(rounds))
			s := run(t, options{env: m.LaunchEnv(t), flags: []string{"--waits"}}, line[0], line[1:]...)
			var again [2]int
			if n, err := fmt.Sscanf(s.stdout, "again %d %d", &again[0], &again[1]); n != 2 || s.exit != 0 {
				t.Fatalf("exit status %d: %q, %v: %s", s.exit, s.stdout, err, s.stderr)
			}
			// Open MPI's requests of MPI_Comm_idup are of another kind.
			if again[0] == 0 && fmt.Sprint(m) == "mpich" || again[1] == 0 {
				t.Fatalf("handles were given again %v times: the test shows nothing", again)
			}
			j := readJob(t, s.ranks(t, ranks))
			// Calls of the persistent operation, once it is started.
			want := match.Count{Calls: rounds, Matched: rounds}
			if got := j.Waits; got.Requests != want || got.Receives.Calls != 3*rounds || got.Receives.Matched != 3*rounds {
				t.Errorf("%+v", got.Result)
			}
		})
	}
}

// TestFailedCalls: after a call that returned an error, nobody knows which messages belong
// together. Messages before it are matched.
func TestFailedCalls(t *testing.T) {
	atOnce(t)
	const ranks, messages = 2, 10
	for _, m := range bothMPIs {
		for rank, what := range []string{"receive", "send"} {
			t.Run(fmt.Sprint(m, " ", what), func(t *testing.T) {
				m.Need(t)
				bin := m.Build(t, "mpi_failed.c", testbin.Options{})
				line := m.Launch(ranks, bin, what, fmt.Sprint(messages))
				s := run(t, options{env: m.LaunchEnv(t), flags: []string{"--waits"}}, line[0], line[1:]...)
				if s.exit != 0 || !strings.Contains(s.stdout, "failed 1") {
					t.Fatalf("exit status %d: %q: %s", s.exit, s.stdout, s.stderr)
				}
				j := readJob(t, s.ranks(t, ranks))
				if got := j.Waits; got.Receives.Matched != messages || !slices.Equal(got.Cut, []int{rank}) {
					t.Errorf("of %d messages before the error %d were matched; ranks %v are known up to a time only", messages, got.Receives.Matched, got.Cut)
				}
			})
		}
	}
}
