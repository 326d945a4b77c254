package page

import (
	"testing"

	"ompp-attach/job"
	"ompp-attach/report"
)

// TestJobPaths: in each class, the call paths of a job add up to the time of all ranks, without
// that of idle workers.
func TestJobPaths(t *testing.T) {
	for name, j := range map[string]*job.Job{"figure 9": figure9Job(t), "smg": smgJob(t)} {
		nodes := pathsOfJob(t, j)
		if len(nodes) < 3 || nodes[0].Parent != -1 || nodes[0].Region != 0 {
			t.Fatalf("%s: %d nodes", name, len(nodes))
		}
		few := widest(nodes, len(nodes)-1)
		for i, n := range few[1:] {
			if n.Parent < 0 || n.Parent > i {
				t.Errorf("%s: with fewer nodes, node %d has parent %d", name, i+1, n.Parent)
			}
		}
	}
}

func pathsOfJob(t testing.TB, j *job.Job) []Node {
	t.Helper()
	x, err := ofJob(j, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sum Parts
	for i := range x.Nodes {
		sumParts(&sum, &x.Nodes[i].Own)
	}
	want := x.Whole
	want.Idle = 0
	if sum != want || x.Nodes[0].Width != want.Sum() {
		t.Errorf("call paths %+v, the whole %+v", sum, want)
	}
	return x.Nodes
}
