package cli

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ompp-attach/profile"
	"ompp-attach/voice"
)

// Spoken writes to the tool's standard error. Before the tool ends, Spoken.Finish must be called:
// it waits until all text is written.
var Spoken = &voice.Voice{To: os.Stderr}

// OutliveReader lets the tool go on after the reader of its output has ended (`2>&1 | head`), so
// that the results are not lost. It does not ignore SIGPIPE, but catches it. So the program gets
// SIGPIPE as usual: exec resets caught signals to their default.
func OutliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Tell writes a sentence to the user's terminal.
func Tell(sentence string) { fmt.Fprintln(Spoken, "ompp-attach: "+Pasteable(sentence)) }

// Warn writes a warning to the user's terminal.
func Warn(format string, args ...any) {
	Tell("warning: " + fmt.Sprintf(format, args...))
}

// TellFile prints the name of a file that was written. On a terminal the name is quoted so that it
// can be pasted into a shell; for a program it is printed as it is.
func TellFile(name string) {
	if _, err := unix.IoctlGetTermios(int(os.Stdout.Fd()), unix.TCGETS); err == nil {
		name = profile.PasteableName(name)
	}
	fmt.Println(name)
}

// Pasteable removes characters from a text that could harm a terminal, and quotes names so that a
// user can paste them into a shell.
func Pasteable(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = profile.Pasteable(l)
	}
	return strings.Join(lines, "\n")
}
