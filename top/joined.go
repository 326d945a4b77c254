package top

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"ompp-attach/collect/control"
	"ompp-attach/profile"
)

// Joined are measurements by other runs of the tool, of the processes to show. These measurements
// go on when the view is closed. The processes pay for one measurement only.
type Joined struct {
	pids  []int
	peers map[int]control.Peer // by process
	ended map[int]bool         // processes that are not measured any more
	last  []*profile.Profile
	over  bool
}

// ErrNotAllMeasured says that others measure some of the processes, and not all.
var ErrNotAllMeasured = errors.New("not all of the processes are measured")

// Join finds the measurements of processes. The error is control.ErrNotMeasured if nobody measures
// any of them, ErrNotAllMeasured, or a sentence.
func Join(pids []int) (*Joined, error) {
	j := &Joined{pids: pids, peers: map[int]control.Peer{}, ended: map[int]bool{}}
	for _, pid := range pids {
		peer, err := control.Find(pid)
		if err == nil {
			j.peers[pid] = peer
		} else if !errors.Is(err, control.ErrNotMeasured) {
			return nil, err
		}
	}
	switch {
	case len(j.peers) == 0:
		return nil, control.ErrNotMeasured
	case len(j.peers) < len(pids):
		return nil, ErrNotAllMeasured
	}
	return j, nil
}

// ask returns the snapshots of those processes that somebody measures.
func (j *Joined) ask() (all []*profile.Profile, cost time.Duration, err error) {
	asked := map[int]bool{}
	for _, pid := range j.pids {
		if j.ended[pid] || asked[pid] {
			continue
		}
		found, took, err := j.peers[pid].Profiles(pid)
		if errors.Is(err, control.ErrNotMeasured) {
			j.ended[pid] = true
			continue
		} else if err != nil {
			return nil, 0, err
		}
		cost += took
		for _, p := range found {
			// A process may have run several programs. The one that runs now has a snapshot.
			if !p.Meta.SnapshotAt.IsZero() && slices.Contains(j.pids, p.Meta.PID) {
				asked[p.Meta.PID] = true
				all = append(all, p)
			}
		}
	}
	if len(j.ended) == len(j.peers) {
		return nil, 0, control.ErrNotMeasured
	}
	return all, cost, nil
}

// Take takes snapshots for View.Follow. The error is a sentence.
func (j *Joined) Take() ([]*profile.Profile, time.Duration, error) {
	all, cost, err := j.ask()
	if errors.Is(err, control.ErrNotMeasured) {
		j.over = true
		return nil, 0, fmt.Errorf("the measurement that was shown is over; the last window ends %s", j.until())
	}
	if err == nil && len(all) > 0 {
		j.last = all
	}
	return all, cost, err
}

func (j *Joined) until() string {
	at := time.Time{}
	for _, p := range j.last {
		if p.Meta.SnapshotAt.After(at) {
			at = p.Meta.SnapshotAt
		}
	}
	return "at " + at.Format(time.TimeOnly)
}

// Over tells whether nobody measures the processes any more.
func (j *Joined) Over() bool { return j.over }

// Last returns the last snapshots.
func (j *Joined) Last() []*profile.Profile { return j.last }

// Keep lets each measurement write snapshots of all its processes, under one number. It returns the
// name of the first file. If nothing was written, the error is that of the first measurement. Keep
// may be called while another goroutine takes snapshots.
func (j *Joined) Keep() (first string, err error) {
	answered := map[control.Peer]bool{}
	for _, pid := range j.pids {
		peer := j.peers[pid]
		if answered[peer] {
			continue
		}
		name, failed := peer.DumpAll(pid)
		// If this process has ended, the measurement may know another one.
		answered[peer] = !errors.Is(failed, control.ErrNotMeasured)
		if answered[peer] {
			err = cmp.Or(err, failed)
		}
		first = cmp.Or(first, name)
	}
	switch {
	case first != "":
		return first, nil
	case err != nil:
		return "", err
	}
	return "", errors.New("the measurement that is shown is over")
}
