// Package clock reads the kernel's clock, which gives records their times, and what the kernel says
// of its clocks. A time namespace shows its processes another CLOCK_MONOTONIC: that of the kernel
// plus an offset.
package clock

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/mpi/clocks"
)

// Now returns the kernel's CLOCK_MONOTONIC, ns, as bpf_ktime_get_ns does.
func Now() uint64 { return uint64(read(unix.CLOCK_MONOTONIC) - Offset()) }

func read(id int32) int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(id, &t) // cannot fail: all kernels have these clocks
	return t.Nano()
}

// Offset returns by how much this process's CLOCK_MONOTONIC is ahead of the kernel's, ns.
var Offset = sync.OnceValue(func() int64 {
	own, _ := os.Readlink("/proc/self/ns/time")
	kids, _ := os.Readlink("/proc/self/ns/time_for_children")
	// timens_offsets holds the offsets of children, and we are not in their namespace.
	if own != kids {
		return 0
	}
	text, _ := os.ReadFile("/proc/self/timens_offsets") // Linux before 5.6 has no such file
	return parse(string(text))
})

// parse reads /proc/PID/timens_offsets: lines of a clock, seconds and nanoseconds.
func parse(text string) int64 {
	for line := range strings.Lines(text) {
		var sec, nsec int64
		if _, err := fmt.Sscanf(line, "monotonic %d %d", &sec, &nsec); err == nil {
			return sec*1e9 + nsec
		}
	}
	return 0
}

// BootID returns the kernel's boot id; empty: it is not known.
func BootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// Booted returns when the kernel was booted, as its present clock has it.
func Booted() time.Time { return time.Unix(0, read(unix.CLOCK_REALTIME)-read(unix.CLOCK_BOOTTIME)) }

// Read returns what the kernel says of its clocks now.
func Read() clocks.Reading {
	const tries = 20
	var out clocks.Reading
	for i := range tries {
		before := int64(Now())
		real := read(unix.CLOCK_REALTIME)
		after := int64(Now())
		if within := (after - before + 1) / 2; i == 0 || within < out.Within {
			out.Monotonic, out.Real, out.Within = before+(after-before)/2, real, within
		}
	}
	var x unix.Timex
	state, err := unix.Adjtimex(&x)
	if err != nil { // for example in a container that may not ask
		return out
	}
	const micro = 1000 // ns: Maxerror and Esterror are in us
	out.Synchronised = state != timeError && x.Status&unix.STA_UNSYNC == 0
	out.MaxError, out.EstError = int64(x.Maxerror)*micro, int64(x.Esterror)*micro
	out.Rate = rate(int64(x.Freq), int64(x.Tick))
	return out
}

// timeError is what adjtimex returns if the clock is not synchronised: TIME_ERROR of <sys/timex.h>.
const timeError = 5

// rate returns by how much the kernel corrects its clock, in millionths. freq is in units of 2^-16
// millionths, and tick is in us per 10,000 us (adjtimex(2)).
func rate(freq, tick int64) float64 { return float64(freq)/(1<<16) + 100*float64(tick-10000) }
