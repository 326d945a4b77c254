package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/target"
)

// Command is the hidden subcommand that becomes the program: it waits until we follow its
// process, and then execs.
const Command = "__launch"

// ExecError says in a sentence why the kernel could not execute the program.
type ExecError struct{ Sentence string }

// Error implements error.
func (e *ExecError) Error() string { return e.Sentence }

// Launched is a program that we started.
type Launched struct {
	cmd    *exec.Cmd
	gate   *os.File // a byte lets the program start; if it is closed, the process ends
	report *os.File
	early  []os.Signal // signals for the program that came before it started
}

// InterruptedError says that a signal ended the run before the program was started.
type InterruptedError struct{ Signal syscall.Signal }

// Error implements error.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("ended by signal %d (%s) before the program was started", e.Signal, e.Signal)
}

// Ending tells how a process ended.
type Ending struct {
	Status int // exit status; 128+N if killed by signal N
	Signal syscall.Signal
	How    string // in words, for the report
	CPU    target.CPUTimes
}

// Streams are a program's standard streams.
type Streams struct{ In, Out, Err *os.File }

// OwnStreams returns the standard streams of this process.
func OwnStreams() Streams { return Streams{os.Stdin, os.Stdout, os.Stderr} }

// beyondAll returns the streams, with files that are no standard streams under numbers beyond all
// open files'. Go's fork (syscall.forkAndExecInChild1, Go 1.26) moves its own pipe to the number
// after the highest one of the streams, if the pipe's is lower. In the child that number may be one
// of our pipes, or a file that the program inherits. The caller has to call done after the fork.
func (s Streams) beyondAll() (beyond Streams, done func()) {
	var copies []*os.File
	first := 0
	move := func(f *os.File) *os.File {
		if f == nil || f.Fd() <= 2 {
			return f
		}
		if first == 0 {
			first = lastOpen() + 1
		}
		n, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, first)
		if err != nil {
			return f // no such number is allowed
		}
		copies = append(copies, os.NewFile(uintptr(n), f.Name()))
		return copies[len(copies)-1]
	}
	beyond = Streams{move(s.In), move(s.Out), move(s.Err)}
	return beyond, func() {
		for _, f := range copies {
			f.Close()
		}
	}
}

// lastOpen returns the highest number of this process's open files.
func lastOpen() (last int) {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, f := range open {
		n, _ := strconv.Atoi(f.Name())
		last = max(last, n)
	}
	return last
}

// Prepare prepares a program in a process of its own that does not run yet. The process gets the
// streams, and keeps our environment and working directory. It also keeps the files that were open
// when we were started, under their numbers: MPICH's launcher speaks to its ranks by such a file.
// args[0] is the program's name.
func Prepare(path string, args []string, s Streams) (*Launched, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	// ExtraFiles would take numbers from 3 on, which such files may have.
	gateR, gate, err := pipe(false)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	report, reportW, err := pipe(true)
	if err != nil {
		syscall.Close(gateR)
		syscall.Close(gate)
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	l := &Launched{gate: os.NewFile(uintptr(gate), "gate"), report: os.NewFile(uintptr(report), "report")}
	s, done := s.beyondAll()
	defer done()
	l.cmd = exec.Command(self, append([]string{Command, strconv.Itoa(gateR), strconv.Itoa(reportW), path}, args...)...)
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = s.In, s.Out, s.Err
	err = l.cmd.Start()
	syscall.Close(gateR)
	syscall.Close(reportW)
	if err != nil {
		l.gate.Close()
		l.report.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return l, nil
}

// pipe makes a pipe. A child inherits one end: the writer's if inheritWriter, else the reader's.
func pipe(inheritWriter bool) (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(p[:]); err != nil {
		return 0, 0, err
	}
	if inheritWriter {
		syscall.CloseOnExec(p[0])
	} else {
		syscall.CloseOnExec(p[1])
	}
	return p[0], p[1], nil
}

// PID is the program's process.
func (l *Launched) PID() int { return l.cmd.Process.Pid }

// Start lets the program run. It returns an *ExecError if the program could not be executed. It
// returns an *InterruptedError if a signal that ends programs has come before. For example, a
// Ctrl-C while the kernel side was loaded did not reach the program, which did not run yet.
func (l *Launched) Start(signals <-chan os.Signal) error {
	for len(signals) > 0 {
		s := <-signals
		switch s {
		case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP:
			l.Abandon()
			return &InterruptedError{s.(syscall.Signal)}
		}
		l.early = append(l.early, s)
	}
	_, err := l.gate.Write([]byte{1})
	l.gate.Close()
	defer l.report.Close()
	if err != nil { // the process was killed: Wait returns how
		return nil
	}
	msg, err := io.ReadAll(l.report) // ends at exec: the pipe is close-on-exec
	if err != nil {
		return err
	}
	if len(msg) > 0 {
		_ = l.cmd.Wait()
		return &ExecError{string(msg)}
	}
	return nil
}

// Abandon ends a program that was not started.
func (l *Launched) Abandon() {
	l.gate.Close()
	l.report.Close()
	_ = l.cmd.Wait()
}

// Wait waits for the program's end. Meanwhile it passes on each signal for which pass says that the
// program has not got it.
func (l *Launched) Wait(signals <-chan os.Signal, pass func(syscall.Signal) bool) Ending {
	ended := make(chan error, 1)
	go func() { ended <- l.cmd.Wait() }()
	hand := func(s os.Signal) {
		if n, ok := s.(syscall.Signal); ok && pass(n) {
			_ = l.cmd.Process.Signal(s)
		}
	}
	for _, s := range l.early {
		hand(s)
	}
	for {
		select {
		case s := <-signals:
			hand(s)
		case err := <-ended:
			return ending(err, l.cmd.ProcessState)
		}
	}
}

func ending(err error, st *os.ProcessState) Ending {
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) || st == nil {
		return Ending{Status: 1}
	}
	e := Ending{Status: st.ExitCode(), How: fmt.Sprintf("exit status %d", st.ExitCode())}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok {
		e = endingBy(ws)
	}
	if ru, ok := st.SysUsage().(*syscall.Rusage); ok {
		e.CPU = target.CPUTimes{User: uint64(ru.Utime.Nano()), System: uint64(ru.Stime.Nano())}
	}
	return e
}

// Foreground tells whether we are in the foreground of a terminal. The program then gets the
// keyboard's signals, too.
func Foreground() bool {
	// Standard input may be a file: ask the controlling terminal itself.
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	pgrp, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}

// Catches reports whether a process has a handler for a signal.
func (l *Launched) Catches(s syscall.Signal) bool { return l.signals("SigCgt")>>(s-1)&1 != 0 }

// Survives reports whether a process catches or ignores a signal.
func (l *Launched) Survives(s syscall.Signal) bool {
	return (l.signals("SigCgt")|l.signals("SigIgn"))>>(s-1)&1 != 0
}

// signals reads a set of signals that the kernel shows.
func (l *Launched) signals(name string) (set uint64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.PID()))
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(b, []byte(name+":\t"))
	mask, _, _ := bytes.Cut(after, []byte("\n"))
	set, _ = strconv.ParseUint(string(mask), 16, 64)
	return set
}

// RunCommand is the main function of Command. args are the file numbers of the gate and of the
// report, the program's path, and its arguments from argv[0] on. It returns only if the program was
// not executed: exec failed, and the report says why, or Start was not called.
func RunCommand(args []string) {
	gateFD, err1 := strconv.Atoi(args[0])
	reportFD, err2 := strconv.Atoi(args[1])
	if err1 != nil || err2 != nil {
		return
	}
	syscall.CloseOnExec(gateFD)
	syscall.CloseOnExec(reportFD)
	gate, report := os.NewFile(uintptr(gateFD), "gate"), os.NewFile(uintptr(reportFD), "report")
	if _, err := io.ReadFull(gate, make([]byte, 1)); err != nil {
		return
	}
	err := execute(args[2], args[3:])
	fmt.Fprint(report, notExecuted(args[2], err))
}
