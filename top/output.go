package top

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/launch"
	"ompp-attach/results"
)

// shownOutput is how much of a program's output appears after the screen is gone (bytes). If the
// file of the output has no name, the tool keeps no more than that.
const shownOutput = 1 << 20

// Output keeps what a launched program writes while a screen has the terminal. The program writes
// to a file, not to a pipe: if the tool were killed, a write to the pipe would end the program.
type Output struct {
	Streams launch.Streams // for the program
	file    *os.File
	name    string // of the file, with all of the output; empty: the file has no name
	to      *os.File
	freed   int64 // bytes at the file's beginning that were given back to the file system
	showing bool
	shown   int64 // bytes that were copied to the terminal, or left out
}

// KeepOutput returns streams for a program: no input, and a file in place of each output that is a
// terminal. With a results directory, the file is in this directory and keeps everything. Otherwise
// it has no name, and keeps the end of the output.
func KeepOutput(dir *results.Directory) (o *Output, err error) {
	o = &Output{Streams: launch.OwnStreams(), to: os.Stdout}
	if o.Streams.In, err = os.Open(os.DevNull); err != nil {
		return nil, err
	}
	if o.file, o.name, err = dir.OutputFile(); err != nil {
		o.Streams.In.Close()
		return nil, fmt.Errorf("cannot keep the program's output: %w", err)
	}
	for _, f := range []**os.File{&o.Streams.Out, &o.Streams.Err} {
		if isTerminal(*f) {
			*f = o.file
		}
	}
	return o, nil
}

// Bound frees disk space of output that will not be shown, unless the file has a name. Callers call
// it from time to time.
func (o *Output) Bound() {
	end := o.written() - shownOutput
	if o.showing {
		end = o.shown
	}
	if o.name != "" || end < o.freed+shownOutput {
		return
	}
	const keepSize, punchHole = unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_PUNCH_HOLE
	if unix.Fallocate(int(o.file.Fd()), keepSize|punchHole, o.freed, end-o.freed) == nil {
		o.freed = end
	}
}

func (o *Output) written() int64 {
	st, err := o.file.Stat()
	if err != nil {
		return 0
	}
	return st.Size()
}

// Show copies the output to the terminal until the program has ended. It leaves the first part of
// much output out, and says so.
func (o *Output) Show(ended <-chan struct{}, tell func(sentence string)) {
	if first := o.written() - shownOutput; first > 0 {
		o.shown = first
		rest := "-o DIR keeps all of it"
		if o.name != "" {
			rest = "all of it is in " + o.name
		}
		tell(fmt.Sprintf("the first %.1f MiB of the program's output are not shown here: %s", float64(first)/(1<<20), rest))
	}
	o.showing = true
	const look = 100 * time.Millisecond
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(look):
		}
		n, _ := io.Copy(o.to, io.NewSectionReader(o.file, o.shown, o.written()-o.shown))
		o.shown += n
		o.Bound()
	}
}

// Close closes the files.
func (o *Output) Close() {
	o.file.Close()
	o.Streams.In.Close()
}
