package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/collect/launch"
	"ompp-attach/results"
)

// runRank is `run` for a rank of a job. It launches the program and leaves the measurement to the
// node's collector.
func runRank(f *measureFlags, c *cobra.Command, r launch.Rank, args []string) error {
	if r.Job == "" { // then the ranks have only their parent in common
		r.Job = fmt.Sprintf("parent-%d", os.Getppid())
	}
	f.say = func(s string) { tell(fmt.Sprintf("rank %d: %s", r.Rank, s)) }
	err := f.rank(c, r, args)
	var ee *exitError
	if errors.As(err, &ee) && ee.err != nil && ee.err.Error() != "" {
		ee.err = fmt.Errorf("rank %d: %w", r.Rank, ee.err)
	} else if err != nil && ee == nil {
		err = fmt.Errorf("rank %d: %w", r.Rank, err)
	}
	return err
}

func (f *measureFlags) rank(c *cobra.Command, r launch.Rank, args []string) error {
	signals := heed()
	l, s, err := f.handOver(c, r, args)
	if err != nil {
		return notRun(r, err)
	}
	if err := l.Start(signals); err != nil {
		s.close()
		return notRun(r, notStarted(err))
	}
	// mpirun, hydra and srun send signals to a rank's process group, so the program has got them
	// already. A signal that would end the program may be sent twice.
	handled := func() {}
	if underHydra() {
		handled = dieWith(l)
	}
	e := l.Wait(signals, func(s syscall.Signal) bool { return !l.Catches(s) })
	if e.Status != 0 && underHydra() {
		return s.leave(e, f, r)
	}
	handled()
	err = s.conclude(e, l.PID(), f.say)
	var ee *exitError
	if e.Signal != 0 && errors.As(err, &ee) && ee.status == e.Status {
		return &killedError{ee, e.Signal}
	}
	return err
}

// handOver launches the program, which does not run yet, and has the collector follow it.
func (f *measureFlags) handOver(c *cobra.Command, r launch.Rank, args []string) (*launch.Launched, *session, error) {
	path, err := findProgram(args[0])
	if err != nil {
		return nil, nil, err
	}
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	req := &request{Rank: r, Flags: flagsBefore(args)}
	if req.Dir, err = os.Getwd(); err != nil {
		return nil, nil, err
	}
	if req.Program, err = filepath.Abs(path); err != nil {
		return nil, nil, err
	}
	where, err := meet(c, r, req.Flags)
	if err != nil {
		return nil, nil, err
	}
	l, err := launch.Prepare(path, args, launch.OwnStreams())
	if err != nil {
		return nil, nil, err
	}
	// The launcher's files stay open in the tool, too. MPICH's launcher takes the end of such a
	// file for a failure, and would kill us before it learns how the program ended.
	req.PID = l.PID()
	s, err := where.handOver(req, f.say)
	if err != nil {
		l.Abandon()
		return nil, nil, err
	}
	return l, s, nil
}

// notRun ends the whole job if one of its ranks cannot run. MPICH's launcher ignores a failure
// before MPI_Init, and the other ranks would wait for ever.
func notRun(r launch.Rank, err error) error {
	if !underHydra() || r.Size == 1 {
		return err
	}
	return &killedError{&exitError{newOver(err).Status, err}, syscall.SIGABRT}
}

// killedError ends the tool by the signal that killed the program.
type killedError struct {
	*exitError
	signal syscall.Signal
}

// Unwrap lets errors.As find the exit status.
func (e *killedError) Unwrap() error { return e.exitError }

// flagsBefore returns the tool's own flags of our command line, without the program and its
// arguments.
func flagsBefore(args []string) []string {
	flags := os.Args[:len(os.Args)-len(args)]
	flags = flags[slices.Index(flags, "run")+1:]
	if n := len(flags); n > 0 && flags[n-1] == "--" {
		flags = flags[:n-1]
	}
	return flags
}

// session is the conversation of one tool with the collector.
type session struct {
	close func()
	dir   string // of the results; set before over is closed
	to    *json.Encoder
	over  chan *over // closed when the connection ends
}

// handOver asks the node's collector to measure a program that is about to start. A collector that
// is just ending may not answer; then another one is started.
func (m *meeting) handOver(req *request, say func(string)) (*session, error) {
	const tries = 5
	for range tries {
		conn, err := m.connect()
		if err != nil {
			return nil, fmt.Errorf("the collector of this node cannot be started: %w", err)
		}
		s := &session{close: func() { conn.Close() }, to: json.NewEncoder(conn), over: make(chan *over, 1)}
		followed := make(chan bool, 1)
		go s.listen(json.NewDecoder(conn), followed, say)
		if err := s.to.Encode(req); err == nil && <-followed {
			return s, nil
		}
		o, ok := <-s.over
		s.close()
		if ok {
			return nil, o.err()
		}
	}
	return nil, fmt.Errorf("the collector of this node ended before it could measure anything%s", m.lastWords())
}

// listen reads the collector's replies until the connection ends.
func (s *session) listen(from *json.Decoder, followed chan<- bool, say func(string)) {
	defer close(s.over)
	defer close(followed)
	for {
		var r reply
		if from.Decode(&r) != nil {
			return
		}
		switch {
		case r.Say != "":
			say(r.Say)
		case r.Followed:
			s.dir = r.Dir
			followed <- true
		case r.Over != nil:
			s.over <- r.Over
			return
		}
	}
}

// conclude tells the collector how the program ended, and waits until the rank's files are written.
func (s *session) conclude(e launch.Ending, pid int, say func(string)) error {
	defer s.close()
	_ = s.to.Encode(&e)
	if o, ok := <-s.over; ok {
		return o.err()
	}
	if p, name := results.CompleteSnapshot(s.dir, pid, e); p != nil {
		say(fmt.Sprintf("the collector of this node was killed: there is a snapshot only, until %s, in %s; the program ran on", p.Meta.SnapshotAt.Local().Format(time.DateTime), name))
	} else {
		say("the collector of this node was killed, so there is no profile of this rank; the program ran on")
	}
	if e.Status != 0 {
		return &exitError{e.Status, nil}
	}
	return nil
}

// lastWords returns the first line of the log of a collector that died.
func (m *meeting) lastWords() string {
	b, err := os.ReadFile(m.log())
	if text := strings.TrimSpace(string(b)); err == nil && text != "" {
		first, _, _ := strings.Cut(text, "\n")
		return fmt.Sprintf(" (%s; see %s)", first, m.log())
	}
	return ""
}
