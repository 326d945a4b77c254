package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/bench/baseline"
)

const tracefs = "/sys/kernel/tracing"

// perfEvents are trace events at the places where ours probes. `perf probe -x`
// writes the same lines, but refuses returns of calls that are probed behind
// their first instruction; so they are written here, and perf takes the events.
type perfEvents struct {
	group string
	names []string
}

func definePerfEvents(placed []baseline.Placed) (*perfEvents, error) {
	if _, err := os.Stat(filepath.Join(tracefs, "uprobe_events")); err != nil {
		if err := unix.Mount("tracefs", tracefs, "tracefs", 0, ""); err != nil {
			return nil, fmt.Errorf("mount %s: %w", tracefs, err)
		}
	}
	e := &perfEvents{group: fmt.Sprintf("ompp_bench_%d", os.Getpid())}
	for i, p := range placed {
		var kinds []string
		if p.AtEntry() {
			kinds = append(kinds, "p")
		}
		if p.AtReturn() {
			kinds = append(kinds, "r")
		}
		for _, kind := range kinds {
			name := fmt.Sprintf("%s%d", kind, i)
			if err := e.write(fmt.Sprintf("%s:%s/%s %s:0x%x", kind, e.group, name, p.Path, p.Offset)); err != nil {
				return nil, errors.Join(err, e.remove())
			}
			e.names = append(e.names, name)
		}
	}
	return e, nil
}

func (e *perfEvents) write(line string) error {
	f, err := os.OpenFile(filepath.Join(tracefs, "uprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("define the trace event %q: %w", line, err)
	}
	return nil
}

func (e *perfEvents) remove() (err error) {
	for _, name := range e.names {
		err = errors.Join(err, e.write("-:"+e.group+"/"+name))
	}
	return err
}

// addPerf adds the ways of perf.
func addPerf(by *[numWays]*means, p *process, placed []baseline.Placed) (remove func(), err error) {
	e, err := definePerfEvents(placed)
	if err != nil {
		return nil, err
	}
	where, err := probedBytes(p.pid(), placed)
	if err != nil {
		return nil, errors.Join(err, e.remove())
	}
	pid := strconv.Itoa(p.pid())
	start := func(args ...string) func() (func() error, error) {
		return func() (func() error, error) { return startPerf(where, exec.Command("perf", args...)) }
	}
	by[perfRecord] = &means{on: p, begin: start("record", "-q", "-e", e.group+":*", "-p", pid, "-o", "/dev/null")}
	by[perfTrace] = &means{on: p, begin: start("trace", "--no-syscalls", "-e", e.group+":*", "-p", pid, "-o", "/dev/null")}
	return func() { _ = e.remove() }, nil
}

// startPerf starts perf and returns once all its probes are in the process: it
// does not say itself when it is ready.
func startPerf(where *probed, cmd *exec.Cmd) (func() error, error) {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan []byte, 1)
	go func() { _, _ = cmd.Process.Wait(); done <- nil }()
	const patience = 20 * time.Second
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		all, err := where.all()
		if err != nil || time.Since(begin) > patience {
			_ = cmd.Process.Kill()
			<-done
			return nil, errors.Join(err, fmt.Errorf("%s places not all its probes: %s", cmd, said.Bytes()))
		}
		if all {
			break
		}
		select {
		case <-done:
			return nil, fmt.Errorf("%s ended early: %s", cmd, said.Bytes())
		default:
		}
	}
	return func() error {
		_ = cmd.Process.Signal(unix.SIGINT)
		select {
		case <-done:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-done
			return fmt.Errorf("%s does not end at SIGINT", cmd)
		}
		return where.none()
	}, nil
}

// probed are the first bytes of the probed instructions in a process.
type probed struct {
	pid   int
	bytes map[int64]byte // by address, without a probe
}

func probedBytes(pid int, placed []baseline.Placed) (*probed, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	w := &probed{pid: pid, bytes: map[int64]byte{}}
	for _, p := range placed {
		addr, ok := addressOf(string(maps), p.Path, p.Offset)
		if !ok {
			return nil, fmt.Errorf("process %d does not map %s at %#x", pid, p.Path, p.Offset)
		}
		w.bytes[addr] = 0
	}
	return w, w.each(func(addr int64, b byte) { w.bytes[addr] = b })
}

// addressOf looks an offset of a file up in /proc/PID/maps.
func addressOf(maps, path string, offset uint64) (int64, bool) {
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		if len(f) != 6 || f[5] != path || !strings.Contains(f[1], "x") {
			continue
		}
		lo, hi, _ := strings.Cut(f[0], "-")
		begin, err1 := strconv.ParseUint(lo, 16, 64)
		end, err2 := strconv.ParseUint(hi, 16, 64)
		at, err3 := strconv.ParseUint(f[2], 16, 64)
		if errors.Join(err1, err2, err3) == nil && offset >= at && offset-at < end-begin {
			return int64(begin + offset - at), true
		}
	}
	return 0, false
}

func (w *probed) each(f func(addr int64, b byte)) error {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", w.pid))
	if err != nil {
		return err
	}
	defer mem.Close()
	for addr := range w.bytes {
		var b [1]byte
		if _, err := mem.ReadAt(b[:], addr); err != nil {
			return fmt.Errorf("read the code of process %d: %w", w.pid, err)
		}
		f(addr, b[0])
	}
	return nil
}

// all tells whether there is a probe everywhere.
func (w *probed) all() (bool, error) {
	all := true
	err := w.each(func(addr int64, b byte) { all = all && b != w.bytes[addr] })
	return all, err
}

// none waits until there is no probe left.
func (w *probed) none() error {
	for range 1000 {
		left := false
		if err := w.each(func(addr int64, b byte) { left = left || b != w.bytes[addr] }); err != nil {
			return err
		}
		if !left {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("probes stay in process %d", w.pid)
}
