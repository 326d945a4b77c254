package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
)

// Of the operations that are wanted every call is there, and of the others none. Operations that
// only look something up are wanted by --mpi-all, or by name.
func TestMPISelection(t *testing.T) {
	atOnce(t)
	const ranks = 2
	query := func(op string) bool {
		o, ok := mpi.ParseOp(op)
		return ok && o.Info().Query
	}
	for _, m := range bothMPIs {
		bin := m.Build(t, "mpi_p2p.c", testbin.Options{NoOpenMP: true, Flags: []string{"-O1", "-g"}})
		truth := m.RunTruth(t, ranks, nil, bin)
		for _, tc := range []struct {
			flags  []string
			wanted func(op string) bool
			says   string
		}{
			{nil, func(op string) bool { return !query(op) }, "--mpi-all"},
			{[]string{"--mpi-all", "--disable", "MPI_Barrier,mpi_send,MPI_COMM_SIZE"}, func(op string) bool {
				return op != "MPI_Barrier" && op != "MPI_Send" && op != "MPI_Comm_size"
			}, "MPI_Barrier"},
			{[]string{"--only", "MPI_Recv,MPI_Start,MPI_Comm_rank"}, func(op string) bool {
				return op == "MPI_Recv" || op == "MPI_Start" || op == "MPI_Comm_rank"
			}, "MPI_Start"},
			{[]string{"--disable", "mpi"}, func(string) bool { return false }, "mpi"},
		} {
			t.Run(fmt.Sprint(m, tc.flags), func(t *testing.T) {
				t.Parallel()
				for r, p := range runJob(t, m, ranks, options{flags: tc.flags}, bin) {
					want := *truth[r]
					want.Sites = slices.Clone(want.Sites)
					ops, op := map[string]bool{}, operationsOf(truth[r])
					for _, s := range want.Sites {
						ops[s.Op] = true
					}
					want.Sites = slices.DeleteFunc(want.Sites, func(s testbin.MPISite) bool { return !tc.wanted(op(s)) })
					if len(want.Sites) == len(truth[r].Sites) {
						t.Errorf("the program calls nothing that is left out, but %v", slices.Sorted(maps.Keys(ops)))
					}
					sameCalls(t, p, &want, byLine)
					if said := strings.Join(p.Meta.LeftOut, " "); !strings.Contains(said, tc.says) {
						t.Errorf("left out, as the report says: %q", said)
					}
				}
			})
		}
	}
}
