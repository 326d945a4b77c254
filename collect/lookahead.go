package collect

import (
	"ompp-attach/probes"
	"ompp-attach/probes/inline"
	"ompp-attach/symbols"
)

// LookAhead begins to read a process's files, before the kernel side is
// loaded, which takes about as long and leaves other cores idle. What is found
// is kept with the files, where the measurement will find it.
func LookAhead(pid int, inlining bool) {
	go func() {
		mods, _ := symbols.Modules(pid) // what cannot be read, the scan will tell
		for i := range mods {
			o := mods[i].Object()
			if mayBeRuntime(o) {
				go probes.LookAhead(o)
			}
			if inlining && usesGomp(o) {
				go inline.Of(o)
			}
		}
	}()
}
