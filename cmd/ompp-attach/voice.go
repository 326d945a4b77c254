package main

import (
	"os"
	"os/signal"
	"syscall"

	"ompp-attach/voice"
)

// spoken writes to the tool's standard error. fail waits until all text is written.
var spoken = &voice.Voice{To: os.Stderr}

// outliveReader lets the tool go on when the reader of its output has ended (`2>&1 | head`), so
// that the results are not lost. It catches SIGPIPE instead of ignoring it: exec resets caught
// signals to their default, so the program gets SIGPIPE as usual.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
