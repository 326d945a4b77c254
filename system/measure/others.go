package measure

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// others tells how much of the CPUs' time other programs take while we measure.
type others struct {
	root  fs.FS
	names []string // of the CPUs, in /proc/stat
	began time.Time
	busy  float64 // s, at the beginning
	ours  float64
}

func startOthers(root fs.FS, cpus string) *others {
	o := &others{root: root, began: time.Now()}
	for _, c := range cpuList(cpus) {
		o.names = append(o.names, "cpu"+strconv.Itoa(c))
	}
	o.busy, o.ours = o.used(), own()
	return o
}

// cpus is how many CPUs others have used since the beginning.
func (o *others) cpus() float64 {
	if o.busy == 0 { // the kernel does not tell
		return 0
	}
	used := (o.used() - o.busy) - (own() - o.ours)
	return max(0, used/time.Since(o.began).Seconds())
}

// used is the time in which the CPUs were not idle, in s (proc_stat(5)).
func (o *others) used() (s float64) {
	const perSecond, idle, iowait, guest = 100, 3, 4, 8 // USER_HZ; the guests' is in user and nice
	for line := range strings.Lines(facts{o.root}.text("proc/stat")) {
		f := strings.Fields(line)
		if len(f) < 2 || !slices.Contains(o.names, f[0]) {
			continue
		}
		for i, word := range f[1:] {
			if n, err := strconv.ParseFloat(word, 64); err == nil && i != idle && i != iowait && i < guest {
				s += n / perSecond
			}
		}
	}
	return s
}

// own is the time that this process and its children that have ended used, in s.
func own() (s float64) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			s += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	return s
}
