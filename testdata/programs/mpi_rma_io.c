// mpi_rma_io.c FILE: one-sided calls and files. The comments say what each line
// moves on 3 ranks, as in mpi_p2p.c; "read" and "written" are a file's bytes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10, MAX = 1000 };

static double a[MAX], b[MAX];
static MPI_Comm W = MPI_COMM_WORLD;
static int me, np, next;
static MPI_Request q[4];
static MPI_Status s[4];

static void fences(MPI_Win w)
{
	MPI_Win_fence(0, w);
	MPI_Put(a, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, w); //= out 80
	MPI_Get(a + 100, N, MPI_DOUBLE, next, 20, N, MPI_DOUBLE, w); //= in 80
	MPI_Accumulate(a, N, MPI_DOUBLE, next, 40, N, MPI_DOUBLE, MPI_SUM, w); //= out 80
	MPI_Put(a, N, MPI_DOUBLE, MPI_PROC_NULL, 0, N, MPI_DOUBLE, w);
	MPI_Get(a, N, MPI_DOUBLE, MPI_PROC_NULL, 0, N, MPI_DOUBLE, w);
	MPI_Win_fence(0, w);
}

static void locks(MPI_Win w)
{
	double one = 1, was;
	int x = 1, y = 2, z;
	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w);
	MPI_Rput(a, 2, MPI_DOUBLE, next, 100, 2, MPI_DOUBLE, w, q); //= out 16
	MPI_Wait(q, s);
	MPI_Rget(b + 500, 3, MPI_DOUBLE, next, 110, 3, MPI_DOUBLE, w, q); //= in 24
	MPI_Wait(q, s);
	MPI_Raccumulate(a, 4, MPI_DOUBLE, next, 120, 4, MPI_DOUBLE, MPI_SUM, w, q); //= out 32
	MPI_Wait(q, s);
	MPI_Get_accumulate(a, 5, MPI_DOUBLE, b + 600, 5, MPI_DOUBLE, next, 130, 5, MPI_DOUBLE, MPI_SUM, w); //= out 40 in 40
	MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, b + 600, 5, MPI_DOUBLE, next, 130, 5, MPI_DOUBLE, MPI_NO_OP, w); //= in 40
	MPI_Rget_accumulate(a, 6, MPI_DOUBLE, b + 700, 6, MPI_DOUBLE, next, 140, 6, MPI_DOUBLE, MPI_SUM, w, q); //= out 48 in 48
	MPI_Wait(q, s);
	MPI_Fetch_and_op(&one, &was, MPI_DOUBLE, next, 150, MPI_SUM, w); //= out 8 in 8
	MPI_Win_flush(next, w);
	MPI_Compare_and_swap(&x, &y, &z, MPI_INT, next, 160, w); //= out 4 in 4
	MPI_Win_flush_local(next, w);
	MPI_Win_unlock(next, w);
	MPI_Win_lock_all(0, w);
	MPI_Put(a, 1, MPI_INT, me, 170, 1, MPI_INT, w); //= out 4
	MPI_Win_flush_all(w);
	MPI_Win_sync(w);
	MPI_Win_unlock_all(w);
}

// Each puts to its next, who exposes its window to its previous rank.
static void post_start(MPI_Win w)
{
	MPI_Group all, to, from;
	int prev = (me + np - 1) % np;
	MPI_Comm_group(W, &all);
	MPI_Group_incl(all, 1, &next, &to);
	MPI_Group_incl(all, 1, &prev, &from);
	MPI_Win_post(from, 0, w);
	MPI_Win_start(to, 0, w);
	MPI_Put(a, N, MPI_FLOAT, next, 0, N, MPI_FLOAT, w); //= out 40
	MPI_Win_complete(w);
	MPI_Win_wait(w);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
	MPI_Group_free(&all);
}

static void files(const char *name)
{
	MPI_File f;
	MPI_Offset at = me * 800;
	MPI_Datatype t;
	MPI_File_open(W, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_write_at(f, at, a, N, MPI_DOUBLE, s); //= written 80
	MPI_File_write_at_all(f, at, a, 2 * N, MPI_DOUBLE, s); //= written 160
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_File_read_at(f, at, b, N, MPI_DOUBLE, s); //= read 80
	MPI_File_read_at_all(f, at, b, 2 * N, MPI_DOUBLE, s); //= read 160
	MPI_File_iwrite_at(f, at, a, 3, MPI_DOUBLE, q); //= written 24
	MPI_Wait(q, s);
	MPI_File_iread_at(f, at, b, 3, MPI_DOUBLE, q); //= read 24
	MPI_Wait(q, s);
	MPI_File_iwrite_at_all(f, at, a, 4, MPI_DOUBLE, q); //= written 32
	MPI_Wait(q, s);
	MPI_File_iread_at_all(f, at, b, 4, MPI_DOUBLE, q); //= read 32
	MPI_Wait(q, s);
	MPI_File_seek(f, at, MPI_SEEK_SET);
	MPI_File_write(f, a, 5, MPI_DOUBLE, s); //= written 40
	MPI_File_write_all(f, a, 6, MPI_DOUBLE, s); //= written 48
	MPI_File_seek(f, at, MPI_SEEK_SET);
	MPI_File_read(f, b, 5, MPI_DOUBLE, s); //= read 40
	MPI_File_read_all(f, b, 6, MPI_DOUBLE, s); //= read 48
	MPI_File_iwrite(f, a, 7, MPI_DOUBLE, q); //= written 56
	MPI_Wait(q, s);
	MPI_File_iwrite_all(f, a, 8, MPI_DOUBLE, q); //= written 64
	MPI_Wait(q, s);
	MPI_File_seek(f, at, MPI_SEEK_SET);
	MPI_File_iread(f, b, 7, MPI_DOUBLE, q); //= read 56
	MPI_Wait(q, s);
	MPI_File_iread_all(f, b, 8, MPI_DOUBLE, q); //= read 64
	MPI_Wait(q, s);
	MPI_File_write_all_begin(f, a, 2, MPI_DOUBLE); //= written 16
	MPI_File_write_all_end(f, a, s);
	MPI_File_read_at_all_begin(f, at, b, 2, MPI_DOUBLE); //= read 16
	MPI_File_read_at_all_end(f, b, s);
	// A view decides where bytes go, a type how many there are.
	MPI_Type_vector(3, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_File_set_view(f, me * 8, MPI_INT, t, "native", MPI_INFO_NULL);
	MPI_File_write_at_all(f, 0, a, 2, t, s); //= written 24
	MPI_Type_free(&t);
	MPI_File_close(&f);
}

static void shared_pointer(const char *name)
{
	MPI_File f;
	MPI_File_open(W, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_write_shared(f, a, 9, MPI_DOUBLE, s); //= written 72
	MPI_File_write_ordered(f, a, me + 1, MPI_DOUBLE, s); //= written 8 16 24
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	MPI_File_read_shared(f, b, 9, MPI_DOUBLE, s); //= read 72
	MPI_File_read_ordered(f, b, me + 1, MPI_DOUBLE, s); //= read 8 16 24
	MPI_File_close(&f);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	next = (me + 1) % np;
	MPI_Win w;
	MPI_Win_create(b, sizeof b, sizeof *b, MPI_INFO_NULL, W, &w);
	fences(w);
	locks(w);
	MPI_Barrier(W);
	post_start(w);
	MPI_Win_free(&w);
	files(argv[1]);
	shared_pointer(argv[1]);
	MPI_Finalize();
	if (me == 0)
		remove(argv[1]);
	return 0;
}
