package measure

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/system"
)

func TestFigure(t *testing.T) {
	samples := make([]float64, 100) // 1 to 100, and one of them very long
	for i := range samples {
		samples[i] = float64(i + 1)
	}
	samples[99] = 1e9
	f := figure(samples, 0.03)
	// The numbers that are sqrt(100)/2 places before and after the median.
	if f.N != 100 || f.Median != 50.5 || f.Min != 1 || f.Mean < 1e7 || f.Error < 4.5 || f.Error > 6 || f.Stopped != system.Bound {
		t.Errorf("figure of 1 to 100: %+v", f)
	}
	if f := figure([]float64{100, 101, 99, 100, 100, 100}, 0.03); f.Stopped != system.Precise {
		t.Errorf("figure of equal samples: %+v", f)
	}
	if f := figure([]float64{100, 300, 200}, 0.03); f.Median != 200 || f.Error != 100 || f.Stopped != system.Bound {
		t.Errorf("figure of three samples: %+v", f)
	}
}

// TestErrorIsOfTheMedian: the stated error is that by which medians of other samples of the same
// distribution differ, within the accuracy of 400 repetitions.
func TestErrorIsOfTheMedian(t *testing.T) {
	const repeats, n = 400, 50
	state := uint64(1)
	uniform := func() float64 { // xorshift64
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return float64(state>>11) / (1 << 53)
	}
	var within int
	for range repeats {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = 1 + 9*uniform()*uniform() // median 1 + 9 * 0.18668
		}
		f := figure(samples, 0.03)
		if d := f.Median - (1 + 9*0.186682); d <= f.Error && -d <= f.Error {
			within++
		}
	}
	if share := float64(within) / repeats; share < 0.6 || share > 0.8 {
		t.Errorf("the true median is within one standard error in %.0f %%, want some 68 to 75", 100*share)
	}
}

// TestTableIsThePrograms: the table of tests has the constructs of the C program, in its order.
func TestTableIsThePrograms(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if err := unpack(dir); err != nil {
		t.Fatal(err)
	}
	if err := compile(t.Context(), "gcc -Wall -Werror", []string{"-O2", "-fopenmp"}, dir, "openmp.c", "openmp"); err != nil {
		t.Fatal(err)
	}
	c, err := command(t.Context(), dir+"/openmp", "list")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := run(t.Context(), c, func(words []string) error {
		names = append(names, strings.Join(words[1:], " "))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(names) != len(openmpTests) {
		t.Fatalf("the program has %d tests, the table %d", len(names), len(openmpTests))
	}
	for i, o := range openmpTests {
		_, variant, _ := strings.Cut(o.variant, "chunk")
		variant, _, _ = strings.Cut(variant, " 8 KiB")
		if !strings.HasPrefix(names[i], strings.ToLower(o.construct.String())) || !strings.Contains(names[i], variant) {
			t.Errorf("test %d is %q in the program, %s %q in the table", i, names[i], o.construct, o.variant)
		}
	}
}

func TestCompileFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/bad.c", []byte("int main(void) { return missing; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cc, want string }{
		{"/nowhere/cc -std=c99", "there is no command /nowhere/cc"},
		{"no-such-compiler", "there is no command no-such-compiler"},
		{"", "the command is empty"},
		{"/", "cannot run /: "},
		{"gcc", "cannot compile bad.c"},
	} {
		err := compile(t.Context(), c.cc, nil, dir, "bad.c", "bad")
		if err == nil || !strings.Contains(sentence(err), c.want) || strings.Contains(sentence(err), "\n") {
			t.Errorf("%q: %v, want %q", c.cc, err, c.want)
		}
	}
}

func TestComplaint(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"-----\n\nmpirun has detected an attempt to run as root.\n\nPlease do not.\n-----\n", "mpirun has detected an attempt to run as root."},
		{"In function main:\nx.c:1:2: error: no x\n", "x.c:1:2: error: no x"},
		{"", "it said nothing"},
	} {
		if got := complaint([]byte(c.text)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestRunIsCancelled: a program that does not end, and its children, are ended with the context.
// This also holds if they do not heed SIGTERM or hold the output open.
func TestRunIsCancelled(t *testing.T) {
	for name, script := range map[string]string{
		"polite":         "sleep 600 & echo ompp-attach: child $!; wait",
		"stubborn":       "trap '' TERM; sleep 600 & echo ompp-attach: child $!; wait",
		"stubborn child": "exec 2>&-; trap '' TERM; sleep 600 & trap - TERM; echo ompp-attach: child $!; wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			c, err := command(ctx, "sh", "-c", script)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			var child string
			err = run(ctx, c, func(words []string) error {
				child = words[1]
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
				t.Errorf("cancelled: %v after %s", err, time.Since(began))
			}
			awaitEnd(t, child)
		})
	}
}

// awaitEnd waits until a process has ended. It is a zombie until its new parent looks.
func awaitEnd(t *testing.T, pid string) {
	t.Helper()
	testbin.Until(t, "process "+pid+" ends", func() bool {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(b), ") Z ")
	})
}

// TestCompileIsCancelled: a compiler's children are ended with it.
func TestCompileIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	compiler := "#!/bin/sh\ntrap '' TERM\nsleep 600 &\ntrap - TERM\necho $! > " + dir + "/new; mv " + dir + "/new " + dir + "/child; wait\n"
	testbin.Executable(t, dir+"/cc", []byte(compiler))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- compile(ctx, dir+"/cc", nil, dir, "x.c", "x") }()
	var child []byte
	for child == nil {
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
			child, _ = os.ReadFile(dir + "/child")
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a compiler that was ended is said to have succeeded")
	}
	awaitEnd(t, strings.TrimSpace(string(child)))
}

// TestOutputIsHeld: a launcher's daemon that holds the output open is no failure.
func TestOutputIsHeld(t *testing.T) {
	t.Parallel()
	c, err := command(t.Context(), "sh", "-c", "sleep 600 & echo ompp-attach: child $!")
	if err != nil {
		t.Fatal(err)
	}
	var child string
	if err := run(t.Context(), c, func(words []string) error { child = words[1]; return nil }); err != nil {
		t.Error(err)
	}
	awaitEnd(t, child)
}

// TestLinesThatCount: lines without words and a line without an end are no figures.
func TestLinesThatCount(t *testing.T) {
	c, err := command(t.Context(), "printf", `ompp-attach: \nompp-attach: a 1\r\nanother\n\nompp-attach: b 1234`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := run(t.Context(), c, func(words []string) error {
		got = append(got, strings.Join(words, " "))
		return nil
	}); err != nil || !slices.Equal(got, []string{"a 1"}) {
		t.Errorf("%q, %v", got, err)
	}
	c, err = command(t.Context(), "sh", "-c", "head -c 3000000 /dev/zero; echo; echo ompp-attach: a 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), c, func([]string) error { return nil }); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("a line of 3 MB: %v", err)
	}
}

// TestBothOutputs: a program that says much on both outputs at once, which end up in one place.
func TestBothOutputs(t *testing.T) {
	c, err := command(t.Context(), "sh", "-c", "yes out | head -n 50000 & yes error | head -n 50000 >&2; wait; exit 7")
	if err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), c, func([]string) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "sh failed (exit status 7)") {
		t.Error(err)
	}
}

func TestLinesOfPrograms(t *testing.T) {
	m := &measurement{p: &system.Profile{Method: method(true)}}
	for _, bad := range []string{"MPI_Send 8 2 1 socket 0 1 2", "MPI_Sned 8 2 1 socket 0 1 2 3", "MPI_Send eight 2 1 socket 0 1 2 3"} {
		if err := m.addMessage(strings.Fields(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if err := m.addMessage(strings.Fields("MPI_Send 8 2 1 socket 1 10 30 20")); err != nil {
		t.Fatal(err)
	}
	if err := m.addHybrid(strings.Fields("hybrid 4 1 8 1 complex 0 10 30 20")); err != nil {
		t.Fatal(err)
	}
	if err := m.addEager(strings.Fields("complex 4096 4097")); err != nil {
		t.Fatal(err)
	}
	c, h, e := m.p.MPI[0], m.p.Hybrid[0], m.p.Eager[0]
	if c.Operation.String() != "MPI_Send" || c.Bytes != 8 || c.Processes != 2 || c.Nodes != 1 || c.Where != system.Socket || !c.Oversubscribed || c.Cost.Median != 20 || c.Cost.N != 3 {
		t.Errorf("message: %+v", c)
	}
	if h.Threads != 4 || h.Communicating != 1 || h.Bytes != 8 || h.Nodes != 1 || h.Where != system.Complex || h.Oversubscribed || h.Cost.Median != 20 {
		t.Errorf("hybrid: %+v", h)
	}
	if e != (system.Eager{Where: system.Complex, Bytes: 4096, Waits: 4097}) {
		t.Errorf("eager: %+v", e)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		affinity           int
		quota              float64
		quick              bool
		threads, processes []int
	}{
		{1, 0, false, []int{1}, nil},
		{6, 0, false, []int{1, 2, 4, 6}, []int{2, 4, 6}},
		{64, 0, true, []int{1, 2, 64}, []int{2, 4, 64}},
		{64, 1.5, false, []int{1, 2}, []int{2}},
	} {
		m := &measurement{o: Options{Quick: c.quick}, p: &system.Profile{Machine: system.Machine{Affinity: c.affinity, Quota: c.quota}}}
		m.chooseNumbers()
		if !slices.Equal(m.o.Threads, c.threads) || !slices.Equal(m.o.Processes, c.processes) {
			t.Errorf("%d CPUs, quota %g: threads %v, processes %v", c.affinity, c.quota, m.o.Threads, m.o.Processes)
		}
	}
}
