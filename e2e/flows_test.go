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
	"ompp-attach/results"
	"ompp-attach/timeline"
	"ompp-attach/timeline/flows"
)

// The messages that are shown are those that the program has sent: it writes their numbers.
func TestMessageFlows(t *testing.T) {
	atOnce(t)
	needTool(t)
	const ranks, pairs = 2, 20
	for m, plan := range map[testbin.MPI]string{testbin.OpenMPI: "last:1h", testbin.MPICH: "all"} {
		t.Run(string(m), func(t *testing.T) {
			bin := m.Build(t, "messages.c", testbin.Options{NoOpenMP: true, Flags: []string{"-O1", "-g"}})
			dir := filepath.Join(t.TempDir(), "out")
			status, out := launchJob(t, m, ranks, tool, "run", "-o", dir, "--quiet", "--timeline", plan, "--", bin, fmt.Sprint(pairs))
			if status != 0 {
				t.Fatalf("exit status %d\n%s", status, out)
			}
			files, done, err := results.OpenTimelines(dir, -1, t.Logf)
			defer done()
			if err != nil {
				t.Fatal(err)
			}
			if names, err := filepath.Glob(filepath.Join(dir, "*.timeline")); err != nil || len(names) != ranks || len(files) != ranks || files[1].Rank() != 1 {
				t.Fatalf("%v: timelines %q of %d ranks", err, names, len(files))
			}
			f, err := flows.Find(files)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Without) > 0 || f.Messages != pairs+pairs/2+pairs {
				t.Errorf("%d messages, want %d; told %q", f.Messages, pairs+pairs/2+pairs, f.Without)
			}
			sent := map[uint64]string{} // numbers of messages by flow
			for i, file := range files {
				eachMessage(t, f, i, file, numbers(out, i), func(role flows.Role, id uint64, number string) {
					if was := sent[id]; was != "" && was != number {
						t.Errorf("a flow shows the message %s at one end and %s at the other", was, number)
					}
					sent[id] = number
				})
			}
		})
	}
}

// numbers returns the numbers that a rank has written of the messages that it sent and received.
func numbers(out string, rank int) (of map[flows.Role][]string) {
	of = map[flows.Role][]string{}
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) != 3 || w[0] != fmt.Sprint(rank) {
			continue
		}
		switch w[1] {
		case "sent":
			of[flows.Sends] = append(of[flows.Sends], w[2])
		case "received":
			of[flows.Receives] = append(of[flows.Receives], w[2])
		}
	}
	return of
}

// eachMessage calls do for each end of a message at a rank,
// with the number that the rank has written.
func eachMessage(t *testing.T, f *flows.Flows, i int, file *timeline.File, written map[flows.Role][]string, do func(role flows.Role, id uint64, number string)) {
	t.Helper()
	for _, tid := range file.TIDs() {
		marks, n := f.Thread(i, tid), int32(0)
		for s, err := range file.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			op := s.Call.Op.Info()
			sends, receives := op.Counts&mpi.CountSend != 0, op.Counts&mpi.CountRecv != 0 && op.Request == mpi.None
			if s.Kind == timeline.Call && (sends || receives) {
				role := flows.Sends
				if receives {
					role = flows.Receives
				}
				number := written[role][0]
				written[role] = written[role][1:]
				if len(marks) > 0 && marks[0].Span == n {
					if marks[0].Role != role {
						t.Errorf("the mark %+v is at a call of %v", marks[0], s.Call.Op)
					}
					do(role, marks[0].ID, number)
					marks = marks[1:]
				}
			}
			n++
		}
		if len(marks) > 0 {
			t.Errorf("%d ends of flows are at no call", len(marks))
		}
	}
}

// The thread that a lock is handed to is the next one that has had it:
// the program writes the order.
func TestLockFlows(t *testing.T) {
	atOnce(t)
	for _, compiler := range []string{"gcc", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin := testbin.Build(t, "relay.c", testbin.Options{Compiler: compiler})
			s := clean(t, options{flags: []string{"--timeline", "last:1h", "--trace"}}, bin, "8")
			file := timelineIn(t, s.dir)
			f, err := flows.Find([]*timeline.File{file})
			if err != nil {
				t.Fatal(err)
			}
			var order []string // threads, as they had the lock
			for line := range strings.Lines(s.stdout) {
				order = append(order, strings.TrimSpace(line))
			}
			freed, got := lockEnds(t, f, file)
			if len(freed) == 0 || len(freed) != len(got) || f.Locks >= len(order) {
				t.Fatalf("%d and %d ends of flows, of %d executions; told %q", len(freed), len(got), len(order), f.Without)
			}
			t.Logf("%d of %d hand-overs are shown", len(freed), len(order)-1)
			for id, n := range freed {
				if m, ok := got[id]; !ok || m != n+1 {
					t.Errorf("the flow leads from execution %d to %d", n, m)
				}
			}
			held := lockOrder(t, file)
			for n, thread := range held {
				if thread != order[n] {
					t.Errorf("execution %d is of thread %s, want %s", n, thread, order[n])
				}
			}
			if len(held) != len(order) {
				t.Errorf("%d executions, want %d", len(held), len(order))
			}
		})
	}
}

// execution is one of a lock, and where it is.
type execution struct {
	tid    uint32
	n      int32
	got    uint64
	thread string
}

// lockExecutions returns the executions of locks in the order in which they had the lock.
func lockExecutions(t *testing.T, file *timeline.File) (out []execution) {
	t.Helper()
	for _, tid := range file.TIDs() {
		n := int32(0)
		for s, err := range file.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			d := file.Dictionary
			if d.Regions[d.Nodes[s.Node].Region].Construct == event.Lock {
				out = append(out, execution{tid, n, s.From + uint64(s.Parts[timeline.Enter].T), fmt.Sprint(d.Threads[s.Thread].Num)})
			}
			n++
		}
	}
	slices.SortFunc(out, func(a, b execution) int { return cmp.Compare(a.got, b.got) })
	return out
}

func lockOrder(t *testing.T, file *timeline.File) (threads []string) {
	for _, e := range lockExecutions(t, file) {
		threads = append(threads, e.thread)
	}
	return threads
}

// lockEnds returns which executions flows begin and end at, by the flows' numbers.
func lockEnds(t *testing.T, f *flows.Flows, file *timeline.File) (freed, got map[uint64]int) {
	t.Helper()
	freed, got = map[uint64]int{}, map[uint64]int{}
	for i, e := range lockExecutions(t, file) {
		for _, m := range f.Thread(0, e.tid) {
			if m.Span != e.n {
				continue
			}
			if m.Role == flows.Frees {
				freed[m.ID] = i
			} else {
				got[m.ID] = i
			}
		}
	}
	return freed, got
}
