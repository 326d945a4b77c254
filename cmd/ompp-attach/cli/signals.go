package cli

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"ompp-attach/collect/launch"
)

// EndOnQuit makes Ctrl-\ (SIGQUIT) end the tool as Ctrl-C does. Go would print the stacks of all
// goroutines. After stop, SIGQUIT has its old meaning.
func EndOnQuit() (stop func()) {
	if signal.Ignored(syscall.SIGQUIT) {
		return func() {}
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		for s := range quit {
			launch.EndBy(s.(syscall.Signal))
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(quit)
		close(quit)
	})
}

// LeaveQuit undoes EndOnQuit, for commands that handle SIGQUIT themselves. main sets it.
var LeaveQuit = func() {}

// Heeded returns the signals without those that were ignored when the tool was started. nohup, and
// shells for background jobs, ignore signals so that the program ignores them as well. The program
// inherits that only if the tool does not catch the signal. Go reports only SIGINT and SIGHUP as
// ignored, so some signals are always left. (signal.Notify without signals would catch all.)
func Heeded(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}
