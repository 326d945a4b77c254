package cli

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"ompp-attach/collect/launch"
)

// EndOnQuit makes Ctrl-\ end the tool as Ctrl-C does. Go would print the stacks of all goroutines.
// stop gives the signal up.
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

// LeaveQuit gives SIGQUIT up for commands that handle it themselves.
var LeaveQuit = func() {}

// Heeded leaves out the signals that are ignored since we were started. nohup and a shell's
// background jobs want the program to ignore these signals as well. The program inherits an ignored
// signal only if we do not catch it. Go reports only SIGINT and SIGHUP as ignored, so some signals
// are always left. (signal.Notify without signals would catch all.)
func Heeded(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}
