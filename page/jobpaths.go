package page

import (
	"cmp"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/job"
)

// mostPaths bounds the call paths of a job's page.
const mostPaths = 3000

// jobNodes makes the tree of call paths over all ranks, or nil if the job was read without its
// paths. A parent precedes its children. If there are more than mostPaths, only those that take
// most time are in the tree.
func jobNodes(j *job.Job) []Node {
	if j.Paths == nil {
		return nil
	}
	out := make([]Node, len(j.Paths.Nodes))
	for i, n := range j.Paths.Nodes {
		out[i].Parent, out[i].Region = n.Parent, n.Region+1
	}
	for i := range j.Paths.Samples {
		s := &j.Paths.Samples[i]
		n, v := &out[s.Node], &s.Values
		c := analysis.Classes{Synch: v[job.SelfSynch], Imbal: v[job.SelfImbal], Limpar: v[job.SelfLimpar], Mgmt: v[job.SelfMgmt],
			MPI: v[job.SelfMPI], NoCore: v[job.SelfNoCore]}
		if n.Execs += uint64(max(0, v[job.SelfC])); s.Node > 0 {
			n.Own.add(v[job.SelfT], c)
			continue
		}
		n.Own.Serial += max(0, v[job.SelfT]-c.Sum())
		n.Own.addClasses(c)
	}
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Width += out[i].Own.Sum(); i > 0 {
			out[out[i].Parent].Width += out[i].Width
		}
	}
	return widest(out, mostPaths)
}

// widest returns the n nodes with most time, in their order. A node takes no less time than any
// node below it, so the parent of each node in the result is in the result, too.
func widest(nodes []Node, n int) []Node {
	if len(nodes) <= n {
		return nodes
	}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nodes[b].Width, nodes[a].Width) })
	order = order[:n]
	slices.Sort(order)
	at := map[int]int{-1: -1}
	out := make([]Node, n)
	for i, k := range order {
		at[k], out[i] = i, nodes[k]
		out[i].Parent = at[nodes[k].Parent]
	}
	return out
}
