package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

//go:embed programs
var sources embed.FS

// unpack writes the sources into a directory.
func unpack(dir string) error {
	programs, err := fs.Sub(sources, "programs")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, programs)
}

// command splits a command as a user gives it: words between blanks.
func command(ctx context.Context, words string, more ...string) (*exec.Cmd, error) {
	w := strings.Fields(words)
	if len(w) == 0 {
		return nil, errors.New("the command is empty")
	}
	w = append(w, more...)
	c := exec.CommandContext(ctx, w[0], w[1:]...)
	// A group of its own: Ctrl-C is for the tool, which then ends the launcher and all ranks.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 3 * time.Second
	return c, nil
}

// finish runs a command of ours and kills the processes that outlive their leader. When the context
// ends, the command has WaitDelay to end. Then the exec package kills the leader, and stops reading
// what others of the group could write for ever.
func finish(c *exec.Cmd) error {
	err := c.Run()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // the leader succeeded; another held its output
		return nil
	}
	return err
}

// compile makes a program of a source. The error has the compiler's first complaint.
func compile(ctx context.Context, cc string, flags []string, dir, source, program string) error {
	args := append([]string{"-I", dir, filepath.Join(dir, source), "-o", filepath.Join(dir, program)}, flags...)
	c, err := command(ctx, cc, append(args, "-lm")...)
	if err != nil {
		return err
	}
	var heard said
	c.Stdout, c.Stderr = &heard, &heard
	err = finish(c)
	if err != nil && c.ProcessState == nil {
		return notRun(c, err)
	}
	if err != nil {
		return fmt.Errorf("%s cannot compile %s (%w): %s", cc, source, err, complaint(heard.b))
	}
	return nil
}

// notRun says that a command could not be started.
func notRun(c *exec.Cmd, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no command %s", c.Args[0])
	}
	return fmt.Errorf("cannot run %s: %w", c.Args[0], err)
}

// complaint returns the line of an output that says most: the first with the word error, or the
// first that has words.
func complaint(out []byte) string {
	first := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if strings.Contains(strings.ToLower(line), "error") {
			return line
		}
		if first == "" && strings.ContainsFunc(line, unicode.IsLetter) { // no rule of dashes
			first = line
		}
	}
	return cmp.Or(first, "it said nothing")
}

// mark begins the lines that the programs write for us.
const mark = "ompp-attach: "

// run runs a program, and hands on the words of each line that is for us. It returns when the
// program has ended and all lines have been read.
func run(ctx context.Context, c *exec.Cmd, line func(words []string) error) error {
	var heard said
	var bad error
	out := &lines{line: func(text string) {
		text, ours := strings.CutPrefix(text, mark)
		if !ours {
			_, _ = heard.Write([]byte(text + "\n"))
			return
		}
		if words := strings.Fields(text); len(words) > 0 && bad == nil {
			bad = line(words)
		}
	}}
	c.Stdout, c.Stderr = out, &heard
	err := finish(c)
	if !bytes.HasPrefix(out.begun, []byte(mark)) {
		_, _ = heard.Write(out.begun)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && c.ProcessState == nil:
		return notRun(c, err)
	case out.err != nil:
		return fmt.Errorf("cannot read what %s wrote: %w", filepath.Base(c.Path), out.err)
	case err != nil:
		return fmt.Errorf("%s failed (%w): %s", filepath.Base(c.Path), err, complaint(heard.b))
	}
	return bad
}

// lines hands on the whole lines of what is written to it. A last line without an end is dropped: a
// program that was interrupted may have written a part of a figure.
type lines struct {
	line  func(text string)
	begun []byte // the line without an end
	err   error  // why no more is read
}

func (l *lines) Write(b []byte) (int, error) {
	const longest = 1 << 20 // samples of a figure
	for rest := b; l.err == nil; {
		text, after, whole := bytes.Cut(rest, []byte("\n"))
		if l.begun = append(l.begun, text...); len(l.begun) > longest {
			l.err = bufio.ErrTooLong
			break
		}
		if !whole {
			break
		}
		l.line(string(l.begun))
		l.begun, rest = l.begun[:0], after
	}
	return len(b), nil // also what cannot be taken is read, or the program would wait for ever
}

// said keeps the beginning of a program's output, because it has the reason of a failure. The exec
// package copies the standard error in a goroutine of its own.
type said struct {
	mu sync.Mutex
	b  []byte
}

func (s *said) Write(b []byte) (int, error) {
	const most = 64 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b = append(s.b, b[:min(len(b), most-len(s.b))]...)
	return len(b), nil
}

// numbers reads words as numbers.
func numbers(words []string) ([]float64, error) {
	out := make([]float64, len(words))
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fmt.Errorf("%.20q is no number", w)
		}
		out[i] = x
	}
	return out, nil
}

// firstLine runs a command and returns its first line; empty if it cannot.
func firstLine(ctx context.Context, words string, more ...string) string {
	c, err := command(ctx, words, more...)
	if err != nil {
		return ""
	}
	var out said
	c.Stdout = &out
	_ = finish(c)
	line, _, _ := bytes.Cut(out.b, []byte("\n"))
	return strings.TrimSpace(string(line))
}
