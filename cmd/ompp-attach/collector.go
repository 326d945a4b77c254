package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/results"
	"ompp-attach/snapshots"
)

// collectorCommand is the hidden subcommand that measures the ranks of one job
// on this node.
const collectorCommand = "__collector"

// patience is how long the collector waits for a tool to connect, and for a tool's request.
const patience = 30 * time.Second

// collector serves the tools of a job's ranks.
type collector struct {
	m      *collect.Measurement
	failed error // why nothing can be measured; nil if it can
	dirs   results.Claims
	shots  *snapshots.Writer

	mu      sync.Mutex
	clients []*client // the first of them gets the messages for all
}

// client is the tool of one rank.
type client struct {
	mu    sync.Mutex
	to    *json.Encoder
	voice *voice // what to writes to
}

// newClient returns the client at the other end of a connection. Nobody who sends to it waits: the
// reader of the rings says things too, and a tool that is stopped reads nothing.
func newClient(conn io.Writer) *client {
	v := &voice{to: conn}
	return &client{to: json.NewEncoder(v), voice: v}
}

func (c *client) send(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.to.Encode(&r) // a tool that is gone needs no answer
}

// runCollector is the collector's main function. args are the path of the socket (which listens as
// file 3), the path of the log, and the flags of the tool that started the collector. It returns
// when the files of the last rank are written.
func runCollector(args []string) error {
	l, err := ownProcess()
	if err != nil {
		return err
	}
	socket, log := args[0], args[1]
	var f measureFlags
	if err := f.parse(args[2:]); err != nil {
		return err
	}
	k := &collector{shots: snapshots.New(f.pace())}
	f.say = k.say
	stop := func() error { return nil }
	if k.m, k.failed = f.measurement(); k.failed == nil {
		defer f.listen(k.m)()
		k.m.OnDump(k.shots.Keep)
		stop = k.m.Start()
	}
	k.serve(l, socket)
	k.dirs.Leave()
	if err = stop(); k.m != nil {
		k.m.Close()
	}
	if st, serr := os.Stat(log); serr == nil && st.Size() == 0 && err == nil {
		os.Remove(log)
	}
	return err
}

// ownProcess makes the process independent of the rank whose tool started it, and returns its
// listener.
func ownProcess() (net.Listener, error) {
	// Signals that end the ranks may reach the collector, too. It ends when the ranks have ended.
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	file := os.NewFile(3, "socket")
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	file.Close()
	closeInherited()
	unbind()
	return l, nil
}

// closeInherited closes the files that the launcher gave the rank: the launcher takes the end of
// these files for the rank's end.
func closeInherited() {
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range fds {
		fd, _ := strconv.Atoi(filepath.Base(name))
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && fd > 2 && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// unbind lets the process run on all cores, since the rank needs the core that the launcher bound
// it to. It also raises the priority above the ranks'. With more ranks than cores the reader would
// otherwise run too late, and records would be lost.
func unbind() {
	const urgent = -20
	var all unix.CPUSet
	for i := range 64 * len(all) {
		all.Set(i)
	}
	threads, _ := filepath.Glob("/proc/self/task/*") // each thread has settings of its own
	for _, name := range threads {
		if tid, err := strconv.Atoi(filepath.Base(name)); err == nil {
			_ = unix.SchedSetaffinity(tid, &all)
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, urgent)
		}
	}
	// Where the kernel schedules sessions as groups, the group's priority counts.
	_ = os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(urgent)), 0)
	var may unix.CPUSet // the cores that the kernel has allowed
	if unix.SchedGetaffinity(0, &may) == nil {
		runtime.GOMAXPROCS(may.Count())
	}
}

// parse reads the flags of a rank's tool.
func (f *measureFlags) parse(flags []string) error {
	c := &cobra.Command{}
	f.register(c, sampleLaunched) // run's default
	return c.ParseFlags(flags)
}

// serve serves clients until the last one is gone, or until patience is over without any.
func (k *collector) serve(l net.Listener, socket string) {
	conns := make(chan net.Conn)
	go func() {
		defer close(conns)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	gone := make(chan struct{})
	impatient := time.After(patience)
	for active := 0; ; {
		select {
		case c := <-conns:
			active++
			go func() {
				defer func() { gone <- struct{}{} }()
				defer c.Close()
				k.client(c)
			}()
			continue
		case <-gone:
			active--
		case <-impatient:
		}
		if active > 0 {
			continue
		}
		// A tool that comes now finds no collector, and starts another one.
		os.Remove(socket)
		l.Close()
		for c := range conns {
			c.Close()
		}
		return
	}
}

// say tells the user a sentence by the first client, if there is any.
func (k *collector) say(s string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.clients) > 0 {
		k.clients[0].send(reply{Say: s})
	}
}

// client serves one rank's tool.
func (k *collector) client(conn net.Conn) {
	c := newClient(conn)
	defer c.voice.finish()
	from := json.NewDecoder(conn)
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	var req request
	if from.Decode(&req) != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	k.mu.Lock()
	k.clients = append(k.clients, c)
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.clients = slices.DeleteFunc(k.clients, func(o *client) bool { return o == c })
	}()
	c.send(reply{Over: newOver(k.measure(&req, c, from))})
}

// measure follows one rank's program until it ends, and writes its files.
func (k *collector) measure(req *request, c *client, from *json.Decoder) error {
	if k.failed != nil {
		return k.failed
	}
	var f measureFlags
	if err := f.parse(req.Flags); err != nil {
		return err
	}
	f.say = func(s string) { c.send(reply{Say: s}) }
	f.quiet = f.quiet || req.Rank.Rank != 0 // one line for all
	if f.events != "" && !filepath.IsAbs(f.events) {
		f.events = filepath.Join(req.Dir, f.events)
	}
	out, err := k.dirs.Open(f.out, f.overwrite, &req.Rank, req.Dir, req.PID)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(req.PID, 0)
	if err != nil {
		return out.Abandon(fmt.Errorf("process %d: %w", req.PID, err))
	}
	defer unix.Close(fd)
	g, err := k.m.Follow(req.PID)
	if err != nil {
		return out.Abandon(err)
	}
	stop := k.shots.Add(&snapshots.Program{To: out, Take: g.Snapshot, Measures: g.Measures, Say: f.say, Logf: f.logf})
	defer stop()
	c.send(reply{Followed: true, Dir: out.Dir})
	var e launch.Ending
	if from.Decode(&e) != nil {
		// The rank's tool is gone; the program may run on.
		awaitEnd(fd)
		e = endingOf(req.PID, fd)
	}
	k.dirs.Ended(req.PID)
	res := g.End(e)
	stop()
	gone := make(chan struct{})
	f.gone = gone
	go func() { // the rank's tool sends nothing more, but may end
		defer close(gone)
		var nothing launch.Ending
		_ = from.Decode(&nothing)
	}()
	if err := g.Refusal(); err != nil {
		return out.Abandon(err)
	}
	return f.conclude(out, res, nil, req.Program)
}

// endingOf tells how a process ended whose tool was killed. The process's new parent may need a
// moment to wait for it.
func endingOf(pid, pidfd int) launch.Ending {
	const patience, look = 200 * time.Millisecond, 5 * time.Millisecond
	for began := time.Now(); time.Since(began) < patience; time.Sleep(look) {
		if e, ok := launch.EndingOf(pid, pidfd); ok {
			return e
		}
	}
	return launch.Ending{How: "not known: its ompp-attach was killed"}
}

// awaitEnd waits for the end of a process by its pidfd.
func awaitEnd(pidfd int) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
