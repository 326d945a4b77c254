package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pairs holds the results of pairs of turns of a mini-app: one turn without our probes (bare), and
// at once another with them (ours). A result is the processor time of one work (s), of all threads
// of all processes of the mini-app. Other load on the machine delays a thread, but adds little to
// the thread's processor time.
type pairs struct{ bare, ours []float64 }

// take measures n pairs. Pairs begin with bare and with ours by turns.
func (p *pairs) take(n int, bare, ours func() (float64, error)) error {
	ways := []struct {
		turn func() (float64, error)
		into *[]float64
	}{{bare, &p.bare}, {ours, &p.ours}}
	for range n {
		for _, w := range ways {
			s, err := w.turn()
			if err != nil {
				return err
			}
			*w.into = append(*w.into, s)
		}
		slices.Reverse(ways)
	}
	return nil
}

// slowdown returns the share of processor time that our probes add. It compares the lower quartile
// of the turns with probes to that of the turns without, since disturbances only ever add to a
// turn. lower and upper are the quartiles of the same share, taken pair by pair.
func (p *pairs) slowdown() (share, lower, upper float64, ok bool) {
	if len(p.bare) == 0 {
		return 0, 0, 0, false
	}
	each := make([]float64, len(p.bare))
	for i := range each {
		each[i] = p.ours[i]/p.bare[i] - 1
	}
	return quantile(p.ours, 0.25)/quantile(p.bare, 0.25) - 1, quantile(each, 0.25), quantile(each, 0.75), true
}

// quantile returns the value below which a part (0 to 1) of the values lies. It interpolates
// between neighbouring values.
func quantile(values []float64, part float64) float64 {
	s := slices.Sorted(slices.Values(values))
	at := part * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// processorTimes returns the processor time that all threads of some processes have taken since
// their start, in s.
func processorTimes(pids []int) (sum float64, err error) {
	for _, pid := range pids {
		t, err := processorTime(pid)
		if err != nil {
			return 0, err
		}
		sum += t.Seconds()
	}
	return sum, nil
}

// executing returns the processes that execute the program file binary, of a process and its
// descendants.
func executing(binary string, pid int) (pids []int) {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == binary {
		pids = append(pids, pid)
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				pids = append(pids, executing(binary, n)...)
			}
		}
	}
	return pids
}

// Each mini-app gets pairTurns pairs. A turn of a pair has the works of any other turn
// (appCost.works) divided by pairDivisor, but no less than minPairWorks.
const (
	pairTurns    = 15
	pairDivisor  = 2
	minPairWorks = 3
)

// measurePairs measures the processor time of a mini-app's works in pairs.
func (c *appCost) measurePairs(bare, ours *means, binary string) error {
	pids := executing(binary, bare.on.pid())
	if len(pids) == 0 {
		return fmt.Errorf("no process of %d executes %s", bare.on.pid(), binary)
	}
	turn := func(m *means) func() (float64, error) {
		return func() (float64, error) {
			got, err := m.turn(1, func(m *means, _ int) (float64, error) {
				var works []float64
				for range max(minPairWorks, c.works/pairDivisor) {
					before, err := processorTimes(pids)
					if err != nil {
						return 0, err
					}
					if _, err := turnOf(m, 0); err != nil {
						return 0, err
					}
					after, err := processorTimes(pids)
					if err != nil {
						return 0, err
					}
					works = append(works, after-before)
				}
				return quantile(works, 0.25), nil
			})
			if err != nil {
				return 0, err
			}
			return got[0], nil
		}
	}
	return c.processor.take(pairTurns, turn(bare), turn(ours))
}
