package profile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// CPUs is a set of processors in the kernel's notation, such as "0-3,8" (cpuset(7), List format).
type CPUs string

// CPUsOf returns the notation of a set of processors.
func CPUsOf(set map[int]bool) CPUs {
	var ranges []string
	numbers := slices.Sorted(maps.Keys(set))
	for i := 0; i < len(numbers); {
		first, last := numbers[i], numbers[i]
		for i++; i < len(numbers) && numbers[i] == last+1; i++ {
			last++
		}
		text := strconv.Itoa(first)
		if last > first {
			text = fmt.Sprintf("%d-%d", first, last)
		}
		ranges = append(ranges, text)
	}
	return CPUs(strings.Join(ranges, ","))
}

// AddTo adds the processors to a set. Parts of the text that are no numbers are left out. A profile
// that was made to do harm may name processors again and again: AddTo stops after 65536 of them.
func (c CPUs) AddTo(set map[int]bool) {
	const most = 1 << 16 // CONFIG_NR_CPUS goes to 8192
	left := most
	for part := range strings.SplitSeq(strings.TrimSpace(string(c)), ",") {
		a, b, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(a)
		if err != nil {
			continue
		}
		hi := lo
		if isRange {
			if hi, err = strconv.Atoi(b); err != nil {
				continue
			}
		}
		for cpu := lo; cpu <= hi && cpu < most && left > 0; cpu++ {
			set[cpu] = true
			left--
		}
	}
}
