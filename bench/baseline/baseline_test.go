package baseline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// Probes that are alike share a link; links of returns come before sessions' and entries'.
func TestSorted(t *testing.T) {
	got := sorted([]Placed{
		{Path: "a", Offset: 1}, {Path: "a", Offset: 2, how: placedReturn}, {Path: "b", Offset: 3},
		{Path: "a", Offset: 4}, {Path: "a", Offset: 5, how: placedSession, skip: skipIfZero}, {Path: "a", Offset: 6, how: placedSession},
	})
	want := []alike{
		{Placed{Path: "a", how: placedSession, skip: skipIfZero}, []bpf.Point{{Offset: 5, Return: true}}},
		{Placed{Path: "a", how: placedSession}, []bpf.Point{{Offset: 6, Return: true}}},
		{Placed{Path: "a", how: placedReturn}, []bpf.Point{{Offset: 2, Return: true}}},
		{Placed{Path: "a"}, []bpf.Point{{Offset: 1}, {Offset: 4}}},
		{Placed{Path: "b"}, []bpf.Point{{Offset: 3}}},
	}
	if !slices.EqualFunc(got, want, func(a, b alike) bool { return a.like == b.like && slices.Equal(a.points, b.points) }) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for how, want := range map[placing][2]bool{placedEntry: {true, false}, placedReturn: {false, true}, placedSession: {true, true}} {
		p := Placed{how: how}
		if got := [2]bool{p.AtEntry(), p.AtReturn()}; got != want {
			t.Errorf("%d: at entry and return %v, want %v", how, got, want)
		}
	}
}

// caller calls hit once for each "h" that it reads, miss never, and answers each letter.
const caller = `
#include <stdio.h>
__attribute__((noinline, noipa, used)) void hit(void) { __asm__ volatile(""); }
__attribute__((noinline, noipa, used)) void miss(void) { __asm__ volatile(""); }
int main(void) { for (int c; (c = getchar()) != EOF;) { if (c == 'h') hit(); putchar(c); fflush(stdout); } }
`

type called struct {
	path      string
	hit, miss uint64 // offsets in the file
	pid       int
	in        io.Writer
	out       *bufio.Reader
}

func start(t *testing.T) *called {
	t.Helper()
	src := testbin.Source(t, "caller.c", caller)
	c := &called{path: testbin.BuildFile(t, src, testbin.Options{NoOpenMP: true})}
	o, err := symbols.OpenObject(c.path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for name, at := range map[string]*uint64{"hit": &c.hit, "miss": &c.miss} {
		found := o.Symbol(name)
		if len(found) != 1 {
			t.Fatalf("%d functions %s", len(found), name)
		}
		offset, ok := o.FileOffset(found[0])
		if !ok {
			t.Fatalf("%s is not in the file", name)
		}
		*at = offset
	}
	cmd := exec.Command(c.path)
	in, out := testbin.Talk(t, cmd)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the probed program: %v", err)
		}
	})
	c.pid, c.in, c.out = cmd.Process.Pid, in, bufio.NewReader(out)
	return c
}

// says writes a letter and waits until the program has answered.
func (c *called) says(letter byte) error {
	if _, err := c.in.Write([]byte{letter}); err != nil {
		return err
	}
	if got, err := c.out.ReadByte(); err != nil || got != letter {
		return fmt.Errorf("answered %q, %w", got, err)
	}
	return nil
}

// The kernel tells where probes were placed, and how; they run once for each call, and Hit finds
// those that were reached.
func TestPlacedAndHit(t *testing.T) {
	probe, err := Load()
	if errors.Is(err, unix.EPERM) || errors.Is(err, ebpf.ErrNotSupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	c := start(t)
	if _, _, err := PlacedBy(os.Getpid()); err == nil {
		t.Fatal("this process has placed nothing so far")
	}
	for _, how := range []placing{placedEntry, placedReturn} {
		placed := []Placed{{Path: c.path, Offset: c.hit, how: how}, {Path: c.path, Offset: c.miss, how: how}}
		links, err := probe.AttachLike(placed, c.pid)
		if err != nil {
			t.Fatal(err)
		}
		seen, programs, err := PlacedBy(os.Getpid())
		if err != nil || !slices.Equal(seen, placed) || len(programs) != 1 {
			t.Errorf("placed %+v, the kernel tells %+v of %d programs, %v", placed, seen, len(programs), err)
		}
		stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
		if err != nil {
			t.Fatal(err)
		}
		before, err := Runs(programs)
		if err != nil {
			t.Fatal(err)
		}
		reached, err := Hit(placed, c.pid, func() error {
			return errors.Join(c.says('h'), c.says('x'), c.says('h'), c.says('h'))
		})
		if err != nil || !slices.Equal(reached, placed[:1]) {
			t.Errorf("reached %+v, %v, want %+v", reached, err, placed[:1])
		}
		if after, err := Runs(programs); err != nil || after-before != 3 {
			t.Errorf("the probes ran %d times, %v, want 3", after-before, err)
		}
		stats.Close()
		if err := links.Close(); err != nil {
			t.Error(err)
		}
		if seen, _, err := PlacedBy(os.Getpid()); err == nil {
			t.Errorf("after their removal the kernel tells of %+v", seen)
		}
	}
	fails := errors.New("no hits")
	if _, err := Hit([]Placed{{Path: c.path, Offset: c.hit}}, c.pid, func() error { return fails }); !errors.Is(err, fails) {
		t.Errorf("an error of what was done meanwhile becomes %v", err)
	}
}
