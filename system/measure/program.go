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

// compile makes a program of a source. The error has the compiler's first complaint.
func compile(ctx context.Context, cc string, flags []string, dir, source, program string) error {
	args := append([]string{"-I", dir, filepath.Join(dir, source), "-o", filepath.Join(dir, program)}, flags...)
	c, err := command(ctx, cc, append(args, "-lm")...)
	if err != nil {
		return err
	}
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		return notRun(c, err)
	}
	if err != nil {
		return fmt.Errorf("%s cannot compile %s (%w): %s", cc, source, err, complaint(out))
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
	const longest = 1 << 20 // samples of a figure
	var heard said
	c.Stderr = &heard
	pipe, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return notRun(c, err)
	}
	var bad error
	in := bufio.NewScanner(pipe)
	in.Buffer(nil, longest)
	for in.Scan() {
		text, ours := strings.CutPrefix(in.Text(), mark)
		if !ours {
			heard.Write([]byte(in.Text() + "\n"))
			continue
		}
		if bad == nil {
			bad = line(strings.Fields(text))
		}
	}
	// What the scanner could not take must be read, or the program would wait for ever.
	_, _ = bufio.NewReader(pipe).WriteTo(&heard)
	err = c.Wait()
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // ranks that outlived their launcher
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s failed (%w): %s", filepath.Base(c.Path), err, complaint(heard.b))
	case in.Err() != nil:
		return fmt.Errorf("cannot read what %s wrote: %w", filepath.Base(c.Path), in.Err())
	}
	return bad
}

// said keeps the beginning of what a program said, where the reason of a failure is.
type said struct{ b []byte }

func (s *said) Write(b []byte) (int, error) {
	const most = 64 << 10
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
	out, _ := c.Output()
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return strings.TrimSpace(string(line))
}
