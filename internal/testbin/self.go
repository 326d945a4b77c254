package testbin

import (
	"fmt"
	"os"
	"strings"
)

// FileOffset returns where an address of this process lies in the file that is mapped there.
func FileOffset(addr uintptr) (uint64, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		var lo, hi, off uint64
		var perm string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &lo, &hi, &perm, &off); n == 4 && lo <= uint64(addr) && uint64(addr) < hi {
			return uint64(addr) - lo + off, nil
		}
	}
	return 0, fmt.Errorf("address %#x is not mapped", addr)
}
