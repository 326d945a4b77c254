package snapshots

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ompp-attach/collect"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// program returns a program of one process, whose snapshots go to a directory of their own.
func program(t *testing.T, pid int, taken *atomic.Int32) *Program {
	t.Helper()
	to, err := results.Open(filepath.Join(t.TempDir(), "out"), "solver", pid, false)
	if err != nil {
		t.Fatal(err)
	}
	take := func() *collect.Result {
		taken.Add(1)
		p := &profile.Profile{Meta: profile.Meta{Target: profile.Target{PID: pid}, Life: profile.Life{SnapshotAt: time.Now()}}, Nodes: []profile.Node{{Parent: -1, Region: -1}}}
		return &collect.Result{First: p, Profiles: []*profile.Profile{p}}
	}
	return &Program{To: to, Take: take, Measures: func(p int) bool { return p == pid }, Say: func(s string) { t.Error(s) }, Logf: func(string, ...any) {}}
}

func kept(t *testing.T, x *Program) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(x.To.Dir, results.KeptStem+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		names = append(names, filepath.Base(name))
	}
	return names
}

// until waits for an event.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("waited for " + what)
		}
	}
}

// TestReplacedBesideKept: rare snapshots that are kept do not make those rare that are there in
// case the tool is killed.
func TestReplacedBesideKept(t *testing.T) {
	var taken atomic.Int32
	x := program(t, 7, &taken)
	stop := New(Pace{Replaced: time.Millisecond, Kept: time.Hour}).Add(x)
	until(t, "three snapshots", func() bool { return taken.Load() >= 3 })
	stop()
	if _, err := os.Stat(filepath.Join(x.To.Dir, results.RecordName)); err != nil || len(kept(t, x)) > 0 {
		t.Errorf("%v; kept are %q", err, kept(t, x))
	}
}

// TestNumbers: snapshots that are kept at one time have one number. This holds for a program that
// has begun later, and after a snapshot that was kept on request.
func TestNumbers(t *testing.T) {
	w := New(Pace{Kept: time.Hour})
	var taken atomic.Int32
	a, b := program(t, 7, &taken), program(t, 8, &taken)
	defer w.Add(a)()
	all := func() {
		w.mu.Lock()
		d := due{keep: true, of: slices.Clone(w.all)}
		w.mu.Unlock()
		w.write(&d)
	}
	all()
	defer w.Add(b)()
	if name, err := w.Keep(7); err != nil || filepath.Base(name) != "snapshot.2.json.gz" || !filepath.IsAbs(name) {
		t.Errorf("%s: %v", name, err)
	}
	all()
	if got := strings.Join(kept(t, a), " "); got != "snapshot.1.json.gz snapshot.2.json.gz snapshot.3.json.gz" {
		t.Errorf("of the first program: %s", got)
	}
	if got := strings.Join(kept(t, b), " "); got != "snapshot.3.json.gz" {
		t.Errorf("of the second program: %s", got)
	}
}

// TestKeepHoldsUpNobody: while a snapshot of one program is written, others may begin and end, and
// only the process's own program is asked.
func TestKeepHoldsUpNobody(t *testing.T) {
	w := New(Pace{})
	var of7, of8 atomic.Int32
	slow, other := program(t, 7, &of7), program(t, 8, &of8)
	begun, goOn := make(chan struct{}), make(chan struct{})
	take := slow.Take
	slow.Take = func() *collect.Result {
		close(begun)
		<-goOn
		return take()
	}
	stopSlow, stopOther := w.Add(slow), w.Add(other)
	done := make(chan error, 1)
	go func() {
		_, err := w.Keep(7)
		done <- err
	}()
	<-begun
	stopOther()
	third := program(t, 9, &of8)
	defer w.Add(third)()
	if name, err := w.Keep(9); err != nil || name == "" {
		t.Errorf("%s: %v", name, err)
	}
	close(goOn)
	if err := <-done; err != nil || of8.Load() != 1 {
		t.Errorf("%v; %d snapshots of other programs, want 1", err, of8.Load())
	}
	stopSlow()
	for pid, want := range map[int]string{7: "nothing was measured of process 7", 8: "nothing was measured of process 8"} {
		if _, err := w.Keep(pid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

// TestOlderHasTheLowerNumber: a snapshot on request waits until the program's snapshot before it is
// written. One that falls due meanwhile gets the later number.
func TestOlderHasTheLowerNumber(t *testing.T) {
	w := New(Pace{Kept: time.Hour})
	var taken atomic.Int32
	x := program(t, 7, &taken)
	defer w.Add(x)()
	take := x.Take
	var order []int // the numbers that had been given when the snapshots were taken
	x.Take = func() *collect.Result {
		w.mu.Lock()
		defer w.mu.Unlock()
		order = append(order, w.number)
		return take()
	}
	x.writing.Lock()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { w.write(&due{keep: true, of: []*Program{x}}) })
		all.Go(func() { _, _ = w.Keep(7) })
	}
	time.Sleep(10 * time.Millisecond)
	x.writing.Unlock()
	all.Wait()
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(order, want) {
		t.Errorf("numbers when snapshots were taken: %d, want %d", order, want)
	}
}

// TestKeepOfNothing: the key is pressed before the measurement has begun, or after its end.
func TestKeepOfNothing(t *testing.T) {
	w := New(Pace{})
	for range 2 {
		if _, err := w.Keep(0); err == nil || !strings.Contains(err.Error(), "nothing was measured yet") {
			t.Error(err)
		}
		var taken atomic.Int32
		w.Add(program(t, 7, &taken))()
	}
}

// The writer sleeps until a snapshot is due, however far off that is. It ends with its last program
// all the same, and the next program has a pace of its own.
func TestEndsWithItsLastProgram(t *testing.T) {
	w := New(Pace{Kept: time.Hour, Rest: 1})
	var taken atomic.Int32
	running := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.running
	}
	for range 3 {
		begun := time.Now()
		first, second := w.Add(program(t, 7, &taken)), w.Add(program(t, 8, &taken))
		w.mu.Lock()
		next := w.next
		w.mu.Unlock()
		if next.Before(begun.Add(time.Hour)) {
			t.Errorf("a snapshot is due %s after the beginning", next.Sub(begun))
		}
		first()
		second()
		until(t, "the writer has ended", func() bool { return !running() })
	}
	if n := taken.Load(); n != 0 {
		t.Errorf("%d snapshots were taken", n)
	}
}
