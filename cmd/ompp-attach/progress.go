package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// progress shows how far a measurement is: a bar on a terminal, otherwise a line for each part.
type progress struct {
	to       *os.File
	terminal bool
	line     string // that was shown last
}

func newProgress(to *os.File) *progress {
	_, err := unix.IoctlGetTermios(int(to.Fd()), unix.TCGETS)
	return &progress{to: to, terminal: err == nil}
}

func (p *progress) show(done, all int, what string) {
	if !p.terminal {
		if what != p.line {
			fmt.Fprintf(p.to, "ompp-attach: %d of %d figures: %s\n", done, all, what)
			p.line = what
		}
		return
	}
	const width = 30
	full := width
	if all > 0 {
		full = width * done / all
	}
	line := fmt.Sprintf("[%s%s] %d of %d, %s", strings.Repeat("#", full), strings.Repeat(".", width-full), done, all, what)
	if line != p.line {
		fmt.Fprintf(p.to, "\r%s\x1b[K", line)
		p.line = line
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.terminal && p.line != "" {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
