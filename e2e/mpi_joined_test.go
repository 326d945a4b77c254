package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// joinedJob is a job of mpi_joined.c.
type joinedJob struct {
	cmd       *exec.Cmd
	bin, file string // the program ends when the file is there
	out       *output
}

const (
	joinedRanks = 3
	// At least 10 of them from the beginning to the end. The launcher may hand on some lines late,
	// of rounds that had begun before.
	enoughRounds = 15
)

func startJoined(t *testing.T, m testbin.MPI) *joinedJob {
	t.Helper()
	m.Need(t)
	j := &joinedJob{bin: m.Build(t, "mpi_joined.c", testbin.Options{}), file: filepath.Join(t.TempDir(), "stop"), out: &output{}}
	// Each round makes a communicator, and the tool keeps the first comms.Most of each rank. The
	// ranks must not make more before the tool has attached to all of them. On a busy machine that
	// takes long, so a round lasts a quarter of a second.
	line := m.Launch(joinedRanks, j.bin, j.file, "50")
	j.cmd = exec.Command(line[0], line[1:]...)
	j.cmd.Env = append(os.Environ(), m.LaunchEnv(t)...)
	j.cmd.Stdout, j.cmd.Stderr = j.out, j.out
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.cmd.Process.Kill() })
	until(t, "the ranks run", func() bool { return j.rounds() > 0 && len(j.ranks()) == joinedRanks })
	return j
}

// rounds returns how many rounds have begun.
func (j *joinedJob) rounds() int { return strings.Count(j.out.String(), "round\n") }

// goOn waits until so many more rounds have begun.
func (j *joinedJob) goOn(t *testing.T, more int) {
	t.Helper()
	begun := j.rounds()
	until(t, "the job goes on", func() bool { return j.rounds() >= begun+more })
}

// ranks returns the processes of the ranks.
func (j *joinedJob) ranks() []int { return processesOf(j.cmd.Process.Pid, j.bin) }

// processesOf returns the processes that run a program under another one.
func processesOf(ancestor int, bin string) (out []int) {
	open := []int{ancestor}
	for ; len(open) > 0; open = open[1:] {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", open[0])); exe == bin {
			out = append(out, open[0])
			continue
		}
		open = append(open, childrenOf(open[0])...)
	}
	return out
}

// end ends the job, and returns what the ranks noted.
func (j *joinedJob) end(t *testing.T) []noted {
	t.Helper()
	if err := os.WriteFile(j.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.cmd.Wait(); err != nil {
		t.Fatalf("the job: %v\n%s", err, j.out.String())
	}
	var notes []noted
	for rank := range joinedRanks {
		text, err := os.ReadFile(fmt.Sprintf("%s.%d", j.file, rank))
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, notesOf(t, string(text))...)
	}
	return notes
}

// attach attaches with --waits, and returns when it has. more are the processes.
func (j *joinedJob) attach(t *testing.T, more ...string) *started {
	t.Helper()
	s := start(t, append([]string{"attach", "--waits", "--quiet=false"}, more...)...)
	until(t, "the tool attaches", func() bool { return strings.Contains(s.stderr.String(), "attached to") })
	return s
}

// TestMPIWaitsAttached: of ranks that were attached to at different moments, the waits are those
// that the program knows. This is so in all collective operations that all ranks began while they
// were measured. It is also so in messages on communicators that were made meanwhile.
func TestMPIWaitsAttached(t *testing.T) {
	atOnce(t)
	for _, m := range bothMPIs {
		t.Run(string(m)+" rank by rank", func(t *testing.T) {
			j := startJoined(t, m)
			var tools []*started
			for _, pid := range j.ranks() {
				tools = append(tools, j.attach(t, "--pid", fmt.Sprint(pid)))
				j.goOn(t, 2)
			}
			j.goOn(t, enoughRounds)
			var ps [joinedRanks]*profile.Profile
			for _, s := range tools {
				_ = s.cmd.Process.Signal(syscall.SIGINT)
				if code := s.wait(t); code != 0 {
					t.Fatalf("exit status %d: %s", code, s.stderr.String())
				}
				names, _ := filepath.Glob(filepath.Join(s.dir, "profile.rank*.json.gz"))
				for _, name := range names {
					p := decode(t, name)
					ps[p.Meta.MPI.Rank] = p
				}
				j.goOn(t, 1)
			}
			checkJoined(t, j.end(t), ps[:], false)
		})
		t.Run(string(m)+" to the end", func(t *testing.T) {
			j := startJoined(t, m)
			j.goOn(t, 2)
			s := j.attach(t, "--job", fmt.Sprint(j.cmd.Process.Pid))
			j.goOn(t, enoughRounds)
			notes := j.end(t)
			if code := s.wait(t); code != 0 {
				t.Fatalf("exit status %d: %s", code, s.stderr.String())
			}
			checkJoined(t, notes, profilesIn(t, s.dir, joinedRanks), true)
		})
		t.Run(string(m)+" at once", func(t *testing.T) {
			j := startJoined(t, m)
			s := j.attach(t, "--job", fmt.Sprint(j.cmd.Process.Pid))
			j.goOn(t, enoughRounds)
			_ = s.cmd.Process.Signal(syscall.SIGINT)
			if code := s.wait(t); code != 0 {
				t.Fatalf("exit status %d: %s", code, s.stderr.String())
			}
			notes := j.end(t)
			checkJoined(t, notes, profilesIn(t, s.dir, joinedRanks), false)
			var text bytes.Buffer
			report := exec.Command(tool, "report", "--properties", s.dir)
			report.Stdout, report.Stderr = &text, &text
			if err := report.Run(); err != nil {
				t.Fatalf("%v: %s", err, text.String())
			}
			words := strings.Join(strings.Fields(text.String()), " ")
			for _, want := range []string{"Wait at MPI barrier", "Critical path of the job, from the first to the last call at which all ranks met while they were measured", "the communicator was made before all of its ranks were attached to"} {
				if !strings.Contains(words, want) {
					t.Errorf("the report does not say %q:\n%s", want, text.String())
				}
			}
		})
	}
}

// checkJoined compares what the tool says of ranks that were attached to with their notes. toEnd:
// all were measured until they ended.
func checkJoined(t *testing.T, notes []noted, ps []*profile.Profile, toEnd bool) {
	t.Helper()
	for rank, p := range ps {
		if p == nil || p.Meta.LostHits != 0 || p.Calls == nil {
			t.Fatalf("rank %d: %+v", rank, p)
		}
	}
	splits := splitsSeen(notes, ps)
	notes, logged := recordedSince(t, notes, ps)
	// All members of an instance must have begun it while they were measured.
	type instance struct {
		pattern string
		round   int
	}
	have := map[instance]int{}
	for _, n := range notes {
		have[instance{n.pattern, n.round}]++
	}
	var whole []noted
	matched := map[bool]uint64{} // of collective operations, and of messages
	// Messages on communicators that were made before all ranks were attached to; one more may be.
	before := uint64(1)
	for _, n := range notes {
		members, known, message := joinedRanks, true, true
		switch n.pattern {
		case "late sender":
			members, known = 2, splits[0][n.round] && splits[1][n.round]
			if !known { // ranks may be attached to some rounds apart
				before++
			}
		case "older", "ahead", "asked":
			members, known = 2, toEnd
		default:
			message = false
		}
		if have[instance{n.pattern, n.round}] == members && known {
			whole = append(whole, n)
			matched[!message]++
		}
	}
	j := readJob(t, ps)
	got, ends := j.Waits, uint64(0)
	if toEnd {
		ends = joinedRanks // calls of MPI_Finalize
	}
	if got.Collectives.Matched != matched[true]+ends || got.Sends.Matched+got.Receives.Matched != matched[false] || matched[true] < 10*joinedRanks*3 || matched[false] < 10*2 {
		t.Errorf("matched %d collective operations and %d messages, not %d and %d", got.Collectives.Matched, got.Sends.Matched+got.Receives.Matched, matched[true], matched[false])
	}
	if n := got.Collectives; n.Left[match.NotYet]+n.Left[match.NoPartner] != n.Calls-n.Matched || n.Calls-n.Matched != logged-matched[true] {
		t.Errorf("of %d collective operations: %+v", logged, n)
	}
	// Otherwise, only a communicator that was made since all ranks were attached to is known.
	few := func(n *match.Count) bool { return n.Left[match.OldComm] <= before }
	if n := &got.Receives; few(n) != toEnd || n.Calls != n.Matched+n.Left[match.OldComm]+n.Left[match.NotYet]+n.Left[match.NoPartner] {
		t.Errorf("receives: %+v", n)
	}
	if n := &got.Requests; few(n) != toEnd || n.Left[match.OldRequest] > 1 || n.Matched+n.Left[match.OldRequest]+n.Left[match.OldComm]+n.Left[match.NotYet] != n.Calls {
		t.Errorf("waits for requests: %+v", n)
	}
	want, found := waitTruth(whole), foundWaits(j, ps)
	for at, w := range want {
		if found[at] != w {
			t.Errorf("%+v: %+v, want %+v", at, found[at], w)
		}
	}
	for at, w := range found {
		switch at.property {
		case match.WaitAtBarrier, match.WaitAtNxN, match.LateBroadcast, match.LateSender:
			if want[at] != w {
				t.Errorf("%+v: %+v, but the program knows of %+v", at, w, want[at])
			}
		}
	}
}

// splitsSeen returns the rounds in which the tool saw a rank make its communicator.
func splitsSeen(notes []noted, ps []*profile.Profile) (out [joinedRanks]map[int]bool) {
	for rank, p := range ps {
		out[rank] = map[int]bool{}
		for _, c := range p.Comms {
			for _, n := range notes {
				if made := int64(c.Made); n.pattern == "split" && n.rank == rank && c.By != nil && made >= n.before && made <= n.after {
					out[rank][n.round] = true
				}
			}
		}
	}
	return out
}

// recordedSince returns the notes of calls that the tool recorded, with the times that it recorded.
// It also returns how many recorded calls of collective operations are noted.
func recordedSince(t *testing.T, notes []noted, ps []*profile.Profile) (out []noted, collectives uint64) {
	t.Helper()
	for rank, p := range ps {
		for i := range p.Calls.Threads {
			for rd := p.Calls.Reader(i); ; {
				c, ok := rd.Next()
				if !ok {
					break
				}
				// 0 if the call was under way at the end.
				// It may end a moment before the tool looks.
				line := lineOfCall(p, c.Site)
				at := slices.IndexFunc(notes, func(n noted) bool {
					return n.rank == rank && n.before <= int64(c.Start) && (n.line == line && n.after >= int64(c.End) || line == 0 && n.after >= int64(c.Start))
				})
				if at < 0 {
					continue // not noted
				}
				n := notes[at]
				n.line, n.start, n.end = line, int64(c.Start), int64(c.End)
				if out = append(out, n); match.IsCollective(c.Op) {
					collectives++
				}
			}
		}
	}
	return out, collectives
}
