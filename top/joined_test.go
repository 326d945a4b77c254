package top

import (
	"errors"
	"slices"
	"testing"

	"ompp-attach/collect/control"
	"ompp-attach/profile"
)

// shared is a measurement of several processes, some of which have ended. It notes the requests
// that it gets.
type shared struct {
	pids, ended []int
	dumped      chan int // by each request; 0: of all processes
}

func (s shared) Measures(pid int) bool { return slices.Contains(s.pids, pid) }
func (s shared) Pause(int) error       { return nil }
func (s shared) Resume(int) error      { return nil }
func (s shared) Dump(pid int) (string, error) {
	s.dumped <- pid
	return "/of one", nil
}
func (s shared) DumpAll(pid int) (string, error) {
	if !s.Measures(pid) || slices.Contains(s.ended, pid) {
		return "", control.ErrNotMeasured
	}
	s.dumped <- 0
	return "/of all", nil
}
func (s shared) Profiles(int) ([]*profile.Profile, error) { return nil, errors.New("not asked for") }

// TestKeepOnce: if one measurement has several ranks, their snapshots have one number. So one
// request writes them all, also if the first of these ranks has ended.
func TestKeepOnce(t *testing.T) {
	const pid = 1 << 29 // above all PIDs
	pids := []int{pid + 1, pid + 2, pid + 3}
	for _, ended := range [][]int{nil, pids[:1], pids} {
		requests := make(chan int, 2*len(pids))
		stop, err := control.Listen(shared{pids, ended, requests})
		if err != nil {
			t.Fatal(err)
		}
		j, err := Join(pids)
		if err != nil {
			t.Fatal(err)
		}
		name, err := j.Keep()
		stop()
		close(requests)
		var dumped []int
		for of := range requests {
			dumped = append(dumped, of)
		}
		switch {
		case len(ended) == len(pids):
			if err == nil || len(dumped) > 0 {
				t.Errorf("after the end: %q, %v", name, err)
			}
		case err != nil || name != "/of all" || !slices.Equal(dumped, []int{0}):
			t.Errorf("%d have ended: %q, %v; requests for %v", len(ended), name, err, dumped)
		}
	}
}
