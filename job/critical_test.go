package job

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// mayWait are operations without a pattern of waits that may wait for other processes, ask for
// other processes, or reach a file. They are those of the MPI standard 4.0. [_c] has the same
// meaning as in package mpi.
const mayWait = `
Test Testall Testany Testsome Request_get_status Iprobe
Parrived Pready Pready_list Pready_range Buffer_detach[_c] Abort Session_init Session_finalize
Put[_c] Get[_c] Accumulate[_c] Get_accumulate[_c] Fetch_and_op Compare_and_swap
Win_flush Win_flush_all Win_flush_local Win_flush_local_all Win_test Win_set_info
Comm_accept Comm_connect Comm_create Comm_create_from_group Comm_create_group Comm_disconnect Comm_dup
Comm_dup_with_info Comm_free Comm_join Comm_set_info Comm_spawn Comm_spawn_multiple Comm_split
Comm_split_type Cart_create Cart_map Cart_sub Graph_create Graph_map Dist_graph_create
Dist_graph_create_adjacent Intercomm_create Intercomm_create_from_groups Intercomm_merge
Lookup_name Publish_name Unpublish_name Open_port Close_port
Session_get_nth_pset Session_get_num_psets Session_get_pset_info
File_open File_close File_delete File_get_position_shared File_get_size File_preallocate
File_seek_shared File_set_atomicity File_set_info File_set_size File_set_view File_sync
File_read[_c] File_read_at[_c] File_read_all[_c] File_read_at_all[_c] File_read_shared[_c]
File_read_ordered[_c] File_write[_c] File_write_at[_c] File_write_all[_c] File_write_at_all[_c]
File_write_shared[_c] File_write_ordered[_c]
File_read_all_begin[_c] File_read_at_all_begin[_c] File_read_ordered_begin[_c]
File_write_all_begin[_c] File_write_at_all_begin[_c] File_write_ordered_begin[_c]
File_read_all_end File_read_at_all_end File_read_ordered_end
File_write_all_end File_write_at_all_end File_write_ordered_end`

// TestAsideOperations: the listed operations are said to count as work although ranks may have
// waited in them. No other operations are.
func TestAsideOperations(t *testing.T) {
	want := map[string]int64{}
	for _, name := range strings.Fields(mayWait) {
		plain, both := strings.CutSuffix(name, "[_c]")
		if want["MPI_"+plain] = 1; both {
			want["MPI_"+plain+"_c"] = 1
		}
	}
	p := &profile.Profile{Nodes: []profile.Node{{Parent: -1, Region: -1}}, Calls: &calllog.Log{}}
	for i := range mpi.Operations {
		if match.Wanted(mpi.Op(i)) {
			p.Calls.Ops = append(p.Calls.Ops, mpi.Op(i))
		}
		p.Regions = append(p.Regions, profile.Region{Construct: event.MPI, Name: mpi.Operations[i].Name})
		p.Nodes = append(p.Nodes, profile.Node{Region: i, Stats: []profile.ThreadStats{{Exec: profile.Sum{T: 1, C: 1}}}})
	}
	got := asideOf(p)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] != got[name] {
			t.Errorf("%s is said to be taken for work: %d", name, got[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == 0 {
			t.Errorf("%s is not said to be taken for work", name)
		}
	}
	p.Calls.Ops = nil // recorded by a version that did not know of these waits
	if asideOf(p)["MPI_Probe"] != 1 {
		t.Error("MPI_Probe is not said to be taken for work though its calls are not recorded")
	}
}
