package flows

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// locked is an execution of a thread that asked for a lock at from. It got the lock, freed it, and
// was over at the other times.
func locked(tid uint32, node int32, lock, from, got, freed, to uint64) timeline.Span {
	s := timeline.Span{TID: tid, Node: node, Lock: lock, From: from, To: to, Exec: profile.Sum{T: int64(to - from), C: 1}}
	s.Parts[timeline.Enter].T, s.Parts[timeline.Body].T, s.Parts[timeline.Exit].T = int64(got-from), int64(freed-got), int64(to-freed)
	return s
}

// handed returns the locks that were handed over: "5@20 -> 6@22" leads from thread 5,
// which freed it at 20.
func handed(t testing.TB, f *Flows, file *timeline.File) (out []string) {
	t.Helper()
	ends := map[uint64][2]string{}
	for _, tid := range file.TIDs() {
		for _, m := range f.Thread(0, tid) {
			e := ends[m.ID]
			e[m.Role-Frees] = fmt.Sprintf("%d@%d", tid, m.At)
			ends[m.ID] = e
		}
	}
	for _, e := range ends {
		out = append(out, e[0]+" -> "+e[1])
	}
	slices.Sort(out)
	if len(out) != f.Locks {
		t.Errorf("%d hand-overs, and %d are told", f.Locks, len(out))
	}
	return out
}

func TestLocks(t *testing.T) {
	first, waits := locked(5, nodeLock, 9, 10, 11, 20, 21), locked(6, nodeLock, 9, 15, 22, 30, 31)
	fold := timeline.Span{TID: 7, Node: nodeLock, Kind: timeline.Fold, From: 12, To: 40, Exec: profile.Sum{T: 9, C: 3}}
	unseen := timeline.Span{TID: 7, Node: nodeLock, From: 2, To: 2, Flags: timeline.Unseen, Exec: profile.Sum{C: 1}}
	stood := locked(7, nodeLock, 9, 20, 21, 21, 23)
	stood.To += 5
	otherFold := fold
	otherFold.Node = nodeCritical
	for _, tc := range []struct {
		name    string
		spans   []timeline.Span
		change  func(*timeline.Dictionary)
		want    string
		without bool
	}{
		{name: "waits", spans: []timeline.Span{first, waits}, want: "5@20 -> 6@22"},
		{name: "was free", spans: []timeline.Span{first, locked(6, nodeLock, 9, 20, 21, 30, 31)}},
		{name: "another lock", spans: []timeline.Span{first, locked(6, nodeLock, 8, 15, 22, 30, 31)}},
		{name: "another construct", spans: []timeline.Span{first, locked(6, nodeCritical, 9, 15, 22, 30, 31)}},
		{name: "three in a row", spans: []timeline.Span{first, waits, locked(7, nodeLock, 9, 12, 32, 33, 34)}, want: "5@20 -> 6@22, 6@30 -> 7@32"},
		{name: "criticals without a name", spans: []timeline.Span{locked(5, nodeCritical, 0, 10, 11, 20, 21), locked(6, nodeCritical, 0, 15, 22, 30, 31)}, want: "5@20 -> 6@22"},
		{name: "a lock that is not known", spans: []timeline.Span{locked(5, nodeLock, 0, 10, 11, 20, 21), locked(6, nodeLock, 0, 15, 22, 30, 31)}},
		{name: "itself", spans: []timeline.Span{first, locked(5, nodeLock, 9, 20, 22, 30, 31)}},
		{name: "nested", spans: []timeline.Span{locked(5, nodeNest, 9, 12, 13, 14, 15), locked(5, nodeNest, 9, 10, 11, 20, 21), locked(6, nodeNest, 9, 12, 22, 30, 31)}, want: "5@20 -> 6@22"},
		{name: "others were added up meanwhile", spans: []timeline.Span{first, waits, fold}},
		{name: "criticals were added up meanwhile", spans: []timeline.Span{first, waits, otherFold}, want: "5@20 -> 6@22"},
		{name: "an end was not seen before", spans: []timeline.Span{unseen, first, waits}},
		{name: "one stood still meanwhile", spans: []timeline.Span{first, waits, stood}},
		{name: "both had it", spans: []timeline.Span{first, locked(6, nodeLock, 9, 15, 18, 30, 31)}},
		{name: "events were lost", spans: []timeline.Span{first, waits}, without: true,
			change: func(d *timeline.Dictionary) { d.Meta.LostHits = 1 }},
		{name: "off", spans: []timeline.Span{first, waits}, without: true, change: func(d *timeline.Dictionary) { d.Meta.Off.C = 1 }},
		{name: "locks were not observed", spans: []timeline.Span{first, waits}, without: true,
			change: func(d *timeline.Dictionary) {
				d.Meta.Observations = []profile.Observation{{Of: event.SetOf(event.Lock)}}
			}},
		{name: "loops were not observed", spans: []timeline.Span{first, waits}, want: "5@20 -> 6@22",
			change: func(d *timeline.Dictionary) {
				d.Meta.Observations = []profile.Observation{{Of: event.SetOf(event.Loop)}}
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := recorded(t, tc.spans, tc.change)
			f, err := Find([]*timeline.File{file})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(handed(t, f, file), ", "); got != tc.want || tc.without != (len(f.Without) > 0) {
				t.Errorf("handed over %q, want %q; told %q", got, tc.want, f.Without)
			}
		})
	}
}

// Locks that a model hands over are found, and no others.
func TestLocksModel(t *testing.T) {
	total := 0
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var spans []timeline.Span
		var want []string
		const threads, locks = 4, 2
		free := [locks]uint64{} // when the lock was freed
		holder := [locks]uint32{}
		next := [threads]uint64{} // when the thread asks next
		for i := range next {
			next[i] = 1 + rnd.Uint64N(50)
		}
		for range 100 {
			// The thread that asks first gets the lock, as soon as the lock is free.
			i := slices.Index(next[:], slices.Min(next[:]))
			l, tid := rnd.IntN(locks), uint32(10+i)
			got := max(next[i], free[l]) + 1 + rnd.Uint64N(3)
			if holder[l] != 0 && holder[l] != tid && next[i] < free[l] {
				want = append(want, fmt.Sprintf("%d@%d -> %d@%d", holder[l], free[l], tid, got))
			}
			freed := got + rnd.Uint64N(60)
			spans = append(spans, locked(tid, nodeLock, uint64(70+l), next[i], got, freed, freed+1))
			free[l], holder[l], next[i] = freed, tid, freed+2+rnd.Uint64N(40)
		}
		file := recorded(t, spans, nil)
		f, err := Find([]*timeline.File{file})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := handed(t, f, file); !slices.Equal(got, want) {
			t.Fatalf("seed %d: handed over %v, want %v", seed, got, want)
		}
		total += len(want)
	}
	if total < 1000 {
		t.Errorf("%d hand-overs are too few to show anything", total)
	}
}

func TestTasks(t *testing.T) {
	task := func(node int32, kind timeline.Kind, at, number uint64, count uint64) timeline.Span {
		return timeline.Span{TID: 5, Node: node, Kind: kind, From: at, To: at + 1, Task: number, Exec: profile.Sum{T: 1, C: count}}
	}
	file := recorded(t, []timeline.Span{
		// A task that is executed in two parts.
		task(nodeCreation, timeline.Created, 1, 1, 0), task(nodeTask, timeline.Execution, 5, 1, 1), task(nodeTask, timeline.Execution, 9, 1, 0),
		task(nodeCreation, timeline.Created, 11, 2, 0),    // never executed
		task(nodeTask, timeline.Execution, 13, 70_000, 1), // created before
		task(nodeTask, timeline.Execution, 15, 1<<63, 1), task(nodeCreation, timeline.Created, 17, 1<<63, 0),
		task(nodeCreation, timeline.Created, 19, 5000, 0), task(nodeTask, timeline.Execution, 21, 5000, 1),
	}, nil)
	f, err := Find([]*timeline.File{file})
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[uint64]bool{0: false, 1: true, 2: false, 5000: true, 5001: false, 70_000: false, 1 << 63: false} {
		if got := f.Task(0, number); got != want {
			t.Errorf("task %d: %v, want %v", number, got, want)
		}
	}
}
