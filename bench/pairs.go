package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pairs are turns of a mini-app that follow each other at once, without ours and with ours: the
// processor time of a work, in s, of all threads of all its processes. What else the machine does
// delays a thread and costs the thread little processor time.
type pairs struct{ bare, ours []float64 }

// take takes so many pairs. The way that comes first changes from pair to pair.
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

// slowdown is the part by which the lower quartile of the turns with ours is above the lower
// quartile of the turns without: a disturbance only ever adds to a turn. lower and upper are the
// quartiles of that part, pair by pair.
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

// quantile is the value below which a part of the values lies. Between two values, the distance to
// each decides.
func quantile(values []float64, part float64) float64 {
	s := slices.Sorted(slices.Values(values))
	at := part * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// processorTimes is the processor time of all threads of some processes since their start, in s.
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

// executing are the processes that execute a program, of a process and its descendants.
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

// pairTurns is how many pairs each mini-app gets, pairPart the part of a turn's works in one.
const (
	pairTurns = 15
	pairPart  = 2
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
				for range max(3, c.works/pairPart) {
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
