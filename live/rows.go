package live

import (
	"maps"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// Initial threads that live briefly. In a profile with many of them, they share rows. A thread that
// turns out to live longer may leave the shared row again. A window compares rows of two snapshots,
// so both must have the same rows. Therefore a thread that has once shared a row stays in this row
// for all later windows.

// rowID names a row in all snapshots of a process.
type rowID struct{ root, num int }

// shared is the root of the rows that brief threads share. Profiles name these rows by the lowest
// root of the threads that share them, which changes.
const shared = -1

// sharing says which initial threads of a snapshot have rows of their own, and which share rows.
type sharing struct {
	root   int           // of the shared rows, in the profile; 0: there are none
	own    map[int][]int // by root: the system's ids of threads with rows of their own
	joined []int         // the system's ids of initial threads that share rows, as far as known
	kept   map[int]bool  // roots that have rows of their own in the profile, but stay shared
}

func sharingOf(p *profile.Profile) sharing {
	s := sharing{own: map[int][]int{}, kept: map[int]bool{}}
	// A thread that calls MPI without ever having a team may share another row with its like.
	teams, paths := map[int]bool{}, analysis.NewPaths(p)
	for i := 1; i < len(p.Nodes); i++ {
		for j := range p.Nodes[i].Stats {
			if paths.Team(i) == i {
				teams[p.Threads[p.Nodes[i].Stats[j].Thread].Root] = true
			}
		}
	}
	for _, t := range p.Threads {
		switch {
		case t.Num != 0 || t.Root == 0:
		case t.Joined > 1 && teams[t.Root]:
			s.root, s.joined = t.Root, t.TIDs
		default:
			s.own[t.Root] = t.TIDs
		}
	}
	return s
}

func (s *sharing) rowOf(t *profile.Thread) rowID {
	if s.root != 0 && t.Root == s.root {
		return rowID{shared, t.Num}
	}
	return rowID{t.Root, t.Num}
}

// alignRows gives a snapshot and the one before it the same rows.
func (s *state) alignRows(before *state) {
	if s == before {
		return
	}
	for _, root := range slices.Sorted(maps.Keys(before.own)) {
		if _, ok := s.own[root]; !ok && s.root != 0 {
			before.share(root)
		}
	}
	for _, root := range slices.Sorted(maps.Keys(s.own)) {
		_, had := before.own[root]
		left := before.root != 0 && !had && slices.ContainsFunc(s.own[root], func(tid int) bool { return slices.Contains(before.joined, tid) })
		if left || before.kept[root] {
			s.share(root)
			s.kept[root] = true
		}
	}
	for root := range before.kept {
		s.kept[root] = true
	}
}

// share adds the rows of an initial thread and its workers to the shared rows.
func (s *state) share(root int) {
	s.joined = append(slices.Clone(s.joined), s.own[root]...)
	delete(s.own, root)
	for i := 0; i < len(s.ids); i++ {
		from := s.ids[i]
		if from.root != root {
			continue
		}
		to := rowID{shared, from.num}
		at := slices.Index(s.ids, to)
		s.ids[i] = to
		if at >= 0 {
			s.rows[at].Total.add(s.rows[i].Total)
			s.ids, s.rows = slices.Delete(s.ids, i, i+1), slices.Delete(s.rows, i, i+1)
			i--
		}
		moveRow(s.threads, from, to)
		for _, in := range s.inRegion {
			moveRow(in, from, to)
		}
	}
}

func moveRow(rows map[rowID]Times, from, to rowID) {
	t, ok := rows[from]
	if !ok {
		return
	}
	sum := rows[to]
	sum.add(t)
	rows[to] = sum
	delete(rows, from)
}
