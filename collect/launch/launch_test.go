package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this binary be the process that becomes a program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		RunCommand(os.Args[2:])
		os.Exit(126)
	}
	os.Exit(m.Run())
}

// A program whose output is a file is started also if other files are closed meanwhile.
func TestPrepareWhileFilesAreClosed(t *testing.T) {
	for i := range 100 {
		var others [8]*os.File
		for i := range others {
			others[i], _ = os.Open(os.DevNull)
		}
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Duration(i) * time.Microsecond)
			for _, f := range others {
				f.Close()
			}
		}()
		l, err := Prepare("/bin/echo", []string{"echo", "started"}, Streams{os.Stdin, out, out})
		if err != nil {
			t.Fatal(err)
		}
		err = l.Start(nil)
		e := l.Wait(nil, nil)
		text, _ := os.ReadFile(out.Name())
		if err != nil || e.Status != 0 || string(text) != "started\n" {
			t.Fatalf("program %d: %v, %s, output %q", i, err, e.How, text)
		}
		out.Close()
	}
}

// gated is a program that begins when its gate opens, and then makes a file.
func gated(t *testing.T, script string) (l *Launched, ran string) {
	t.Helper()
	ran = filepath.Join(t.TempDir(), "ran")
	gateR, gate, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	report, reportW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l = &Launched{gate: gate, report: report, cmd: exec.Command("/bin/sh", "-c", "head -c 1 | grep -q . || exit 126; "+script, ran)}
	l.cmd.Stdin = gateR
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gateR.Close()
	reportW.Close()
	return l, ran
}

// A signal that would have ended the program keeps it from being started. Other signals that came
// before it are passed on.
func TestEarlySignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		l, ran := gated(t, `: >"$0"`)
		signals := make(chan os.Signal, 2)
		signals <- syscall.SIGUSR1
		signals <- s
		var early *InterruptedError
		if err := l.Start(signals); !errors.As(err, &early) || early.Signal != s {
			t.Errorf("%v: %v", s, err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%v: the program was started", s)
		}
	}
	l, ran := gated(t, `: >"$0"`)
	signals := make(chan os.Signal, 1)
	if err := l.Start(signals); err != nil {
		t.Fatal(err)
	}
	l.Wait(signals, nil)
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("without signals: %v", err)
	}
	l, _ = gated(t, "exec sleep 60")
	signals <- syscall.SIGUSR1
	if err := l.Start(signals); err != nil {
		t.Fatal(err)
	}
	if e := l.Wait(signals, func(syscall.Signal) bool { return true }); e.Signal != syscall.SIGUSR1 {
		t.Errorf("ended by %q, want SIGUSR1", e.How)
	}
}
