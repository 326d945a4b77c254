package measure

import (
	"context"
	"fmt"
	"strconv"

	"ompp-attach/system"
)

// kernels are those of programs/compute.c, with the units of their rates.
var kernels = map[string]string{"multiply-add": "flop/s", "triad-cache": "byte/s", outOfCaches: "byte/s"}

// outOfCaches is the kernel whose arrays no cache holds.
const outOfCaches = "triad-memory"

// compute measures the rates of the kernels with each number of threads.
func (m *measurement) compute(ctx context.Context) error {
	if err := m.compile(ctx, "compute.c", "compute"); err != nil {
		return err
	}
	cache, array, fits := m.arrays()
	if !fits {
		m.leaveOut("compute", "the free memory holds no arrays that are larger than the caches, so "+
			outOfCaches+" is not measured")
	}
	for _, n := range m.o.Threads {
		c, err := m.withThreads(ctx, n, "compute", m.rule(strconv.FormatUint(cache, 10), strconv.FormatUint(array, 10))...)
		if err != nil {
			return err
		}
		err = run(ctx, c, func(words []string) error {
			if words[0] == "fact" {
				m.fact(words)
				return nil
			}
			if len(words) > 1 && words[1] == outOfCaches && !fits {
				return nil
			}
			if len(words) < 6 || words[0] != "compute" || kernels[words[1]] == "" {
				return fmt.Errorf("the program for rates wrote %.40q", words)
			}
			v, err := numbers(words[2:])
			if err != nil {
				return err
			}
			m.p.Compute = append(m.p.Compute, system.Rate{
				Kernel: words[1], Unit: kernels[words[1]], Threads: int(v[0]),
				Rate: m.figure(v[1:]), Oversubscribed: m.oversubscribed(int(v[0])),
			})
			m.step("rates, " + amount(n, "thread", "threads"))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// arrays returns the bytes of a core's own cache, and of an array that no cache holds: four times
// all last-level caches. There are three such arrays, and each takes a tenth of the free memory at
// most. fits says that an array is still larger than the caches.
func (m *measurement) arrays() (cache, array uint64, fits bool) {
	const someCache, leastArray = 256 << 10, 64 << 20 // if the kernel tells nothing
	cache, array = someCache, leastArray
	var last int
	var caches uint64
	for _, c := range m.p.Machine.Caches {
		if c.Type == "Instruction" {
			continue
		}
		if c.SharedBy <= m.p.Machine.ThreadsPerCore {
			cache = c.Bytes
		}
		if c.Level >= last {
			last, caches = c.Level, c.Bytes*uint64(c.Count)
			array = max(leastArray, 4*caches)
		}
	}
	if free := (facts{m.root}).freeMemory(); free > 0 {
		array = min(array, free/10)
	}
	return cache, array, array > caches
}
