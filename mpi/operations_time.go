package mpi

import "strings"

// The operations that move no data themselves.

// waits are the operations that complete, start or look for other operations.
var waits = rows{
	{"Wait", Time, 0, "req _", 0},
	{"Waitall", Time, 0, "nreqs reqs _", 0},
	{"Waitany", Time, 0, "nreqs reqs _ _", 0},
	{"Waitsome", Time, 0, "nreqs reqs _ _ _", 0},
	{"Test", Time, 0, "req _ _", 0},
	{"Testall", Time, 0, "nreqs reqs _ _", 0},
	{"Testany", Time, 0, "nreqs reqs _ _ _", 0},
	{"Testsome", Time, 0, "nreqs reqs _ _ _", 0},
	{"Request_free", Time, 0, "req", 0},
	{"Request_get_status", Time, 0, "_ _ _", 0},
	{"Cancel", Time, 0, "req", 0},
	{"Start", Start, 0, "req", 0},
	{"Startall", Start, 0, "nreqs reqs", 0},
	{"Probe", Time, 0, "peer tag comm status", 0},
	{"Iprobe", Time, 0, "peer tag comm _ _", 0},
	{"Mprobe", Time, 0, "peer tag comm _ _", 0},
	{"Improbe", Time, 0, "peer tag comm _ _ _", 0},
	{"Win_lock", Time, 0, "_ peer _ win", 0},
	{"Win_unlock", Time, 0, "peer win", 0},
	{"Win_flush", Time, 0, "peer win", 0},
	{"Win_flush_local", Time, 0, "peer win", 0},
}

// timed is a list of operations whose time alone counts: their names with their argument words,
// separated by semicolons. [_c] says that there is a variant with 64-bit counts.
type timed string

func (s timed) operations() (ops []Operation) {
	for item := range strings.SplitSeq(string(s), ";") {
		name, args, _ := strings.Cut(strings.TrimSpace(item), " ")
		name, hasLarge := strings.CutSuffix(name, "[_c]")
		r := row{name: name, args: args}
		if hasLarge {
			r.variants = large
		}
		ops = append(ops, r.operations()...)
	}
	return ops
}

// with returns the list's operations, and calls set for each.
func (s timed) with(set func(*Operation)) []Operation {
	ops := s.operations()
	for i := range ops {
		set(&ops[i])
	}
	return ops
}

// queries are the operations whose Operation.Query is set.
const queries timed = `
Address _ _; Aint_add _ _; Aint_diff _ _; Attr_get comm _ _ _; Cart_coords comm _ _ _;
Cart_get comm _ _ _ _; Cart_rank comm _ _; Cart_shift comm _ _ _ _; Cartdim_get comm _;
Comm_compare comm _ _; Comm_get_attr comm _ _ _; Comm_get_errhandler comm _; Comm_get_name comm _ _;
Comm_get_parent _; Comm_rank comm _; Comm_remote_size comm _; Comm_size comm _; Comm_test_inter comm _;
Dist_graph_neighbors comm _ _ _ _ _ _; Dist_graph_neighbors_count comm _ _ _; Errhandler_get comm _;
Error_class _ _; Error_string _ _ _; File_get_amode file _; File_get_atomicity file _;
File_get_byte_offset file _ _; File_get_errhandler file _; File_get_position file _;
File_get_type_extent[_c] file _ _; File_get_view file _ _ _ _; Finalized _; Get_address _ _;
Get_count[_c] _ _ _; Get_elements[_c] _ _ _; Get_elements_x _ _ _; Get_library_version _ _;
Get_processor_name _ _; Get_version _ _; Graph_get comm _ _ _ _; Graph_neighbors comm _ _ _;
Graph_neighbors_count comm _ _; Graphdims_get comm _ _; Group_compare _ _ _; Group_rank _ _;
Group_size _ _; Group_translate_ranks _ _ _ _ _; Info_get _ _ _ _ _; Info_get_nkeys _ _;
Info_get_nthkey _ _ _; Info_get_string _ _ _ _ _; Info_get_valuelen _ _ _ _; Initialized _;
Is_thread_main _; Op_commutative _ _; Pack_external_size[_c] _ _ _ _; Pack_size[_c] _ _ comm _;
Query_thread _; Session_get_errhandler _ _; Status_set_cancelled _ _; Status_set_elements _ _ _;
Status_set_elements_x _ _ _; Test_cancelled _ _; Topo_test comm _; Type_extent _ _; Type_get_attr _ _ _ _;
Type_get_contents _ _ _ _ _ _ _; Type_get_contents_c _ _ _ _ _ _ _ _ _; Type_get_envelope _ _ _ _ _;
Type_get_envelope_c _ _ _ _ _ _; Type_get_extent[_c] _ _ _; Type_get_extent_x _ _ _; Type_get_name _ _ _;
Type_get_true_extent[_c] _ _ _; Type_get_true_extent_x _ _ _; Type_lb _ _; Type_size[_c] _ _;
Type_size_x _ _; Type_ub _ _; Win_get_attr win _ _ _; Win_get_errhandler win _; Win_get_name win _ _;
Win_shared_query[_c] win _ _ _ _; Wtick; Wtime`

// beginnings are the operations whose Operation.Begins is set, endings those whose Ends is set.
const (
	beginnings timed = `Init _ _; Init_thread _ _ _ _; Session_init _ _ _`
	endings    timed = `Finalize; Abort comm _; Session_finalize _`
)

// synchronisation are those operations of local and management that put memory accesses of other
// processes in order.
const synchronisation = "MPI_Win_fence MPI_Win_post MPI_Win_start MPI_Win_complete MPI_Win_wait MPI_Win_test " +
	"MPI_Win_lock_all MPI_Win_unlock_all MPI_Win_flush_all MPI_Win_flush_local_all MPI_Win_sync "

// localOnRequests are the operations of waits whose Operation.Local is set.
const localOnRequests = "MPI_Request_free MPI_Cancel MPI_Start MPI_Startall "

// local are further operations whose Operation.Local is set. The queries have it, too.
const local timed = `
Add_error_class _; Add_error_code _ _; Add_error_string _ _; Alloc_mem _ _ _; Attr_delete comm _;
Attr_put comm _ _; Buffer_attach[_c] _ _; Comm_call_errhandler comm _; Comm_create_errhandler _ _;
Comm_create_keyval _ _ _ _; Comm_delete_attr comm _; Comm_free_keyval _; Comm_get_info comm _;
Comm_group comm _; Comm_remote_group comm _; Comm_set_attr comm _ _; Comm_set_errhandler comm _;
Comm_set_name comm _; Dims_create _ _ _; Errhandler_create _ _; Errhandler_free _;
Errhandler_set comm _; File_call_errhandler file _; File_create_errhandler _ _;
File_get_group file _; File_get_info file _; File_seek file _ _; File_set_errhandler file _;
Free_mem _; Grequest_complete _; Grequest_start _ _ _ _ req; Group_difference _ _ _;
Group_excl _ _ _ _; Group_free _; Group_from_session_pset _ _ _; Group_incl _ _ _ _;
Group_intersection _ _ _; Group_range_excl _ _ _ _; Group_range_incl _ _ _ _; Group_union _ _ _;
Info_create _; Info_create_env _ _ _; Info_delete _ _; Info_dup _ _; Info_free _; Info_set _ _ _;
Keyval_create _ _ _ _; Keyval_free _; Op_create[_c] _ _ _; Op_free _; Pack[_c] _ _ _ _ _ _ comm;
Pack_external[_c] _ _ _ _ _ _ _; Pcontrol _ _; Reduce_local[_c] _ _ _ _ _;
Register_datarep[_c] _ _ _ _ _; Session_call_errhandler _ _; Session_create_errhandler _ _;
Session_get_info _ _; Session_set_errhandler _ _; Type_commit _; Type_contiguous[_c] _ _ _;
Type_create_darray[_c] _ _ _ _ _ _ _ _ _ _; Type_create_f90_complex _ _ _;
Type_create_f90_integer _ _; Type_create_f90_real _ _ _; Type_create_hindexed[_c] _ _ _ _ _;
Type_create_hindexed_block[_c] _ _ _ _ _; Type_create_hvector[_c] _ _ _ _ _;
Type_create_indexed_block[_c] _ _ _ _ _; Type_create_keyval _ _ _ _;
Type_create_resized[_c] _ _ _ _; Type_create_struct[_c] _ _ _ _ _;
Type_create_subarray[_c] _ _ _ _ _ _ _; Type_delete_attr _ _; Type_dup _ _; Type_free _;
Type_free_keyval _; Type_hindexed _ _ _ _ _; Type_hvector _ _ _ _ _; Type_indexed[_c] _ _ _ _ _;
Type_match_size _ _ _; Type_set_attr _ _ _; Type_set_name _ _; Type_struct _ _ _ _ _;
Type_vector[_c] _ _ _ _ _; Unpack[_c] _ _ _ _ _ _ comm; Unpack_external[_c] _ _ _ _ _ _ _;
Win_attach win _ _; Win_call_errhandler win _; Win_create_errhandler _ _;
Win_create_keyval _ _ _ _; Win_delete_attr win _; Win_detach win _; Win_free_keyval _;
Win_get_group win _; Win_get_info win _; Win_set_attr win _ _; Win_set_errhandler win _;
Win_set_name win _; Win_sync win`

const management timed = `
Parrived _ _ _; Pready _ _; Pready_list _ _ _; Pready_range _ _ _; Buffer_detach[_c] _ _;
Cart_create comm _ _ _ _ _; Cart_map comm _ _ _ _; Cart_sub comm _ _; Close_port _;
Comm_accept _ _ _ comm _; Comm_connect _ _ _ comm _; Comm_create comm _ _;
Comm_create_from_group _ _ _ _ _; Comm_create_group comm _ _ _; Comm_disconnect _; Comm_dup comm _;
Comm_dup_with_info comm _ _; Comm_free _; Comm_idup comm _ req; Comm_idup_with_info comm _ _ req;
Comm_join _ _; Comm_set_info comm _; Comm_spawn _ _ _ _ _ comm _ _;
Comm_spawn_multiple _ _ _ _ _ _ comm _ _; Comm_split comm _ _ _; Comm_split_type comm _ _ _ _;
Dist_graph_create comm _ _ _ _ _ _ _ _; Dist_graph_create_adjacent comm _ _ _ _ _ _ _ _ _;
File_close _; File_delete _ _; File_get_position_shared file _; File_get_size file _;
File_open comm _ _ _ _; File_preallocate file _; File_seek_shared file _ _;
File_set_atomicity file _; File_set_info file _; File_set_size file _;
File_set_view file _ _ _ _ _; File_sync file; Graph_create comm _ _ _ _ _; Graph_map comm _ _ _ _;
Intercomm_create comm _ _ _ _ _; Intercomm_create_from_groups _ _ _ _ _ _ _ _;
Intercomm_merge comm _ _; Lookup_name _ _ _; Open_port _ _; Publish_name _ _ _;
Session_get_nth_pset _ _ _ _ _; Session_get_num_psets _ _ _; Session_get_pset_info _ _ _;
Unpublish_name _ _ _; Win_allocate[_c] _ _ _ comm _ _; Win_allocate_shared[_c] _ _ _ comm _ _;
Win_complete win; Win_create[_c] _ _ _ _ comm _; Win_create_dynamic _ comm _; Win_fence _ win;
Win_flush_all win; Win_flush_local_all win; Win_free _; Win_lock_all _ win; Win_post _ _ win;
Win_set_info win _; Win_start _ _ win; Win_test win _; Win_unlock_all win; Win_wait win`
