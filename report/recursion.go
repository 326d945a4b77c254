package report

import (
	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// shownDepth is how often a region may occur on a call path before the text report stops going
// deeper. The report of a program that recurses 500 levels deep would otherwise have half a million
// lines. The recorded profile keeps every level.
const shownDepth = 4

// recursion says which nodes the text report leaves out because of recursion.
type recursion struct {
	hidden []bool
	below  []int    // number of hidden nodes below a shown one
	count  []uint64 // executions of these hidden nodes
}

func findRecursion(p *profile.Profile) recursion {
	n := len(p.Nodes)
	r := recursion{make([]bool, n), make([]int, n), make([]uint64, n)}
	depth := make([]int, n)           // occurrences of the node's own region on its path
	nearest := make([]map[int]int, n) // occurrences by region, shared while unchanged
	for i := range p.Nodes {
		node := &p.Nodes[i]
		if node.Parent < 0 {
			nearest[i] = map[int]int{}
			continue
		}
		up := nearest[node.Parent]
		if r.hidden[node.Parent] || up[node.Region] >= shownDepth {
			r.hidden[i] = true
			nearest[i] = up
			continue
		}
		depth[i] = up[node.Region] + 1
		m := make(map[int]int, len(up)+1)
		for k, v := range up {
			m[k] = v
		}
		m[node.Region] = depth[i]
		nearest[i] = m
	}
	for i := range p.Nodes {
		if !r.hidden[i] {
			continue
		}
		at := p.Nodes[i].Parent
		for r.hidden[at] {
			at = p.Nodes[at].Parent
		}
		r.below[at]++
		r.count[at] += analysis.Sum(&p.Nodes[i]).Exec.C
	}
	return r
}

// shown returns the children of each node that are not left out.
func (r *recursion) shown(kids [][]int) [][]int {
	out := make([][]int, len(kids))
	for i := range kids {
		for _, k := range kids[i] {
			if !r.hidden[k] {
				out[i] = append(out[i], k)
			}
		}
	}
	return out
}

func (r *recursion) total() (n int) {
	for _, b := range r.below {
		n += b
	}
	return n
}
