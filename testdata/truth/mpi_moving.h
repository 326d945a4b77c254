// mpi_moving.h: the functions that move data and have a large-count form.
// Included once per form: N(name) is the name, INT the type of counts, DISP of
// displacements.

#ifndef MPI_MOVING_H
#define MPI_MOVING_H
#define LIST(...) __VA_ARGS__
#define SEND(name) CALL(N(name), (const void *b, INT n, MPI_Datatype t, int dest, int tag, MPI_Comm comm), (b, n, t, dest, tag, comm), sent(v, comm, dest, n, t))
#define ISEND(name) CALL(N(name), (const void *b, INT n, MPI_Datatype t, int dest, int tag, MPI_Comm comm, MPI_Request *q), (b, n, t, dest, tag, comm, q), sent(v, comm, dest, n, t))
#define SEND_INIT(name) CALL(N(name), (const void *b, INT n, MPI_Datatype t, int dest, int tag, MPI_Comm comm, MPI_Request *q), (b, n, t, dest, tag, comm, q), sent(v, comm, dest, n, t), c.keep = q)
// Blocking and not.
#define COLL(name, iname, params, args, ...)                                    \
	CALL(N(name), params, args, __VA_ARGS__)                                \
	CALL(N(iname), (LIST params, MPI_Request *q), (LIST args, q), __VA_ARGS__)
// Returning a status, a request, or nothing yet.
#define FILE_OP(name, iname, buffer, volume)                                    \
	CALL(N(name), (MPI_File f, buffer b, INT n, MPI_Datatype t, MPI_Status *s), (f, b, n, t, s), volume(v, n, t)) \
	CALL(N(iname), (MPI_File f, buffer b, INT n, MPI_Datatype t, MPI_Request *q), (f, b, n, t, q), volume(v, n, t))
#define FILE_AT(name, iname, buffer, volume)                                    \
	CALL(N(name), (MPI_File f, MPI_Offset o, buffer b, INT n, MPI_Datatype t, MPI_Status *s), (f, o, b, n, t, s), volume(v, n, t)) \
	CALL(N(iname), (MPI_File f, MPI_Offset o, buffer b, INT n, MPI_Datatype t, MPI_Request *q), (f, o, b, n, t, q), volume(v, n, t))
#define FILE_BEGIN(name, buffer, volume) CALL(N(name), (MPI_File f, buffer b, INT n, MPI_Datatype t), (f, b, n, t), volume(v, n, t))
#endif

SEND(Send) SEND(Bsend) SEND(Ssend) SEND(Rsend)
ISEND(Isend) ISEND(Ibsend) ISEND(Issend) ISEND(Irsend)
SEND_INIT(Send_init) SEND_INIT(Bsend_init) SEND_INIT(Ssend_init) SEND_INIT(Rsend_init)
CALL(N(Recv), (void *b, INT n, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Status *s), (b, n, t, source, tag, comm, s), received(v, comm, source, n, t), v->status = s)
CALL(N(Irecv), (void *b, INT n, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Request *q), (b, n, t, source, tag, comm, q), received(v, comm, source, n, t))
CALL(N(Recv_init), (void *b, INT n, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Request *q), (b, n, t, source, tag, comm, q),
	received(v, comm, source, n, t), c.keep = q)
CALL(N(Mrecv), (void *b, INT n, MPI_Datatype t, MPI_Message *m, MPI_Status *s), (b, n, t, m, s),
	received(v, MPI_COMM_NULL, *m == MPI_MESSAGE_NO_PROC ? MPI_PROC_NULL : MPI_ANY_SOURCE, n, t))
CALL(N(Imrecv), (void *b, INT n, MPI_Datatype t, MPI_Message *m, MPI_Request *q), (b, n, t, m, q),
	received(v, MPI_COMM_NULL, *m == MPI_MESSAGE_NO_PROC ? MPI_PROC_NULL : MPI_ANY_SOURCE, n, t))
CALL(N(Sendrecv), (const void *sb, INT sn, MPI_Datatype st, int dest, int stag, void *rb, INT rn, MPI_Datatype rt, int source, int rtag, MPI_Comm comm, MPI_Status *s),
	(sb, sn, st, dest, stag, rb, rn, rt, source, rtag, comm, s), sent(v, comm, dest, sn, st), received(v, comm, source, rn, rt), v->status = s)
CALL(N(Sendrecv_replace), (void *b, INT n, MPI_Datatype t, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *s),
	(b, n, t, dest, stag, source, rtag, comm, s), sent(v, comm, dest, n, t), received(v, comm, source, n, t), v->status = s)

COLL(Bcast, Ibcast, (void *b, INT n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm), bcast(v, comm, root, n, t))
COLL(Reduce, Ireduce, (const void *sb, void *rb, INT n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm), (sb, rb, n, t, op, root, comm), reduce(v, comm, root, n, t))
COLL(Allreduce, Iallreduce, (const void *sb, void *rb, INT n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (sb, rb, n, t, op, comm), allreduce(v, comm, n, t))
COLL(Scan, Iscan, (const void *sb, void *rb, INT n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (sb, rb, n, t, op, comm), scan(v, comm, n, t))
COLL(Exscan, Iexscan, (const void *sb, void *rb, INT n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (sb, rb, n, t, op, comm), scan(v, comm, n, t))
COLL(Reduce_scatter, Ireduce_scatter, (const void *sb, void *rb, const INT *ns, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (sb, rb, ns, t, op, comm),
	struct peers p = peers(v, comm); reduce_scatter(v, p, SUM(p.local, ns, t), size(ns[p.me], t)); moved(v, SUM(p.local, ns, t), 0))
COLL(Reduce_scatter_block, Ireduce_scatter_block, (const void *sb, void *rb, INT n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (sb, rb, n, t, op, comm),
	struct peers p = peers(v, comm); reduce_scatter(v, p, p.local * size(n, t), size(n, t)); moved(v, size(n, t), 0))
COLL(Gather, Igather, (const void *sb, INT sn, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, int root, MPI_Comm comm), (sb, sn, st, rb, rn, rt, root, comm),
	struct peers p = peers(v, comm);
	switch (role(p, root)) {
	case ROOT: gather_root(v, p, p.inter ? 0 : sb == MPI_IN_PLACE ? size(rn, rt) : size(sn, st), size(rn, rt) * p.np); moved(v, p.inter || sb == MPI_IN_PLACE ? 0 : size(sn, st), size(rn, rt)); break;
	case LEAF: out(v, size(sn, st), size(sn, st)); moved(v, size(sn, st), 0); break;
	case NONE: break;
	})
COLL(Gatherv, Igatherv, (const void *sb, INT sn, MPI_Datatype st, void *rb, const INT *rns, const DISP *ds, MPI_Datatype rt, int root, MPI_Comm comm), (sb, sn, st, rb, rns, ds, rt, root, comm),
	struct peers p = peers(v, comm);
	switch (role(p, root)) {
	case ROOT: gather_root(v, p, p.inter ? 0 : sb == MPI_IN_PLACE ? size(rns[p.me], rt) : size(sn, st), SUM(p.np, rns, rt)); moved(v, p.inter || sb == MPI_IN_PLACE ? 0 : size(sn, st), SUM(p.np, rns, rt)); break;
	case LEAF: out(v, size(sn, st), size(sn, st)); moved(v, size(sn, st), 0); break;
	case NONE: break;
	})
COLL(Scatter, Iscatter, (const void *sb, INT sn, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, int root, MPI_Comm comm), (sb, sn, st, rb, rn, rt, root, comm),
	struct peers p = peers(v, comm);
	switch (role(p, root)) {
	case ROOT: scatter_root(v, p, size(sn, st) * p.np, p.inter ? 0 : rb == MPI_IN_PLACE ? size(sn, st) : size(rn, rt)); moved(v, size(sn, st), p.inter || rb == MPI_IN_PLACE ? 0 : size(rn, rt)); break;
	case LEAF: in(v, size(rn, rt), size(rn, rt)); moved(v, 0, size(rn, rt)); break;
	case NONE: break;
	})
COLL(Scatterv, Iscatterv, (const void *sb, const INT *sns, const DISP *ds, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, int root, MPI_Comm comm), (sb, sns, ds, st, rb, rn, rt, root, comm),
	struct peers p = peers(v, comm);
	switch (role(p, root)) {
	case ROOT: scatter_root(v, p, SUM(p.np, sns, st), p.inter ? 0 : rb == MPI_IN_PLACE ? size(sns[p.me], st) : size(rn, rt)); moved(v, SUM(p.np, sns, st), p.inter || rb == MPI_IN_PLACE ? 0 : size(rn, rt)); break;
	case LEAF: in(v, size(rn, rt), size(rn, rt)); moved(v, 0, size(rn, rt)); break;
	case NONE: break;
	})
COLL(Allgather, Iallgather, (const void *sb, INT sn, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, MPI_Comm comm), (sb, sn, st, rb, rn, rt, comm),
	struct peers p = peers(v, comm); allgather(v, p, sb == MPI_IN_PLACE ? size(rn, rt) : size(sn, st), size(rn, rt) * p.np); moved(v, sb == MPI_IN_PLACE ? 0 : size(sn, st), size(rn, rt)))
COLL(Allgatherv, Iallgatherv, (const void *sb, INT sn, MPI_Datatype st, void *rb, const INT *rns, const DISP *ds, MPI_Datatype rt, MPI_Comm comm), (sb, sn, st, rb, rns, ds, rt, comm),
	struct peers p = peers(v, comm); allgather(v, p, sb == MPI_IN_PLACE ? size(rns[p.me], rt) : size(sn, st), SUM(p.np, rns, rt)); moved(v, sb == MPI_IN_PLACE ? 0 : size(sn, st), SUM(p.np, rns, rt)))
COLL(Alltoall, Ialltoall, (const void *sb, INT sn, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, MPI_Comm comm), (sb, sn, st, rb, rn, rt, comm),
	struct peers p = peers(v, comm); uint64_t all = size(rn, rt) * p.np; exchange(v, sb == MPI_IN_PLACE ? all : size(sn, st) * p.np, all);
	moved(v, sb == MPI_IN_PLACE ? 0 : size(sn, st), size(rn, rt)))
COLL(Alltoallv, Ialltoallv, (const void *sb, const INT *sns, const DISP *sd, MPI_Datatype st, void *rb, const INT *rns, const DISP *rd, MPI_Datatype rt, MPI_Comm comm),
	(sb, sns, sd, st, rb, rns, rd, rt, comm),
	struct peers p = peers(v, comm); uint64_t all = SUM(p.np, rns, rt); exchange(v, sb == MPI_IN_PLACE ? all : SUM(p.np, sns, st), all);
	moved(v, sb == MPI_IN_PLACE ? 0 : SUM(p.np, sns, st), all))
COLL(Alltoallw, Ialltoallw, (const void *sb, const INT *sns, const DISP *sd, const MPI_Datatype *st, void *rb, const INT *rns, const DISP *rd, const MPI_Datatype *rt, MPI_Comm comm),
	(sb, sns, sd, st, rb, rns, rd, rt, comm),
	struct peers p = peers(v, comm); uint64_t all = SUM_TYPES(p.np, rns, rt); exchange(v, sb == MPI_IN_PLACE ? all : SUM_TYPES(p.np, sns, st), all);
	moved(v, sb == MPI_IN_PLACE ? 0 : SUM_TYPES(p.np, sns, st), all))

COLL(Neighbor_allgather, Ineighbor_allgather, (const void *sb, INT sn, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, MPI_Comm comm), (sb, sn, st, rb, rn, rt, comm),
	struct neighbours g = neighbours(v, comm); uint64_t s = size(sn, st);
	out(v, s * g.np_out, g.np_out ? s : 0); in(v, size(rn, rt) * g.np_in, size(rn, rt) * g.np_in); moved(v, s, size(rn, rt)))
COLL(Neighbor_allgatherv, Ineighbor_allgatherv, (const void *sb, INT sn, MPI_Datatype st, void *rb, const INT *rns, const DISP *ds, MPI_Datatype rt, MPI_Comm comm), (sb, sn, st, rb, rns, ds, rt, comm),
	struct neighbours g = neighbours(v, comm); uint64_t s = size(sn, st), r = SUM_IF(g.ins, rns, rt, g.in);
	out(v, s * g.np_out, g.np_out ? s : 0); in(v, r, r); moved(v, s, r))
COLL(Neighbor_alltoall, Ineighbor_alltoall, (const void *sb, INT sn, MPI_Datatype st, void *rb, INT rn, MPI_Datatype rt, MPI_Comm comm), (sb, sn, st, rb, rn, rt, comm),
	struct neighbours g = neighbours(v, comm); exchange(v, size(sn, st) * g.np_out, size(rn, rt) * g.np_in); moved(v, size(sn, st), size(rn, rt)))
COLL(Neighbor_alltoallv, Ineighbor_alltoallv, (const void *sb, const INT *sns, const DISP *sd, MPI_Datatype st, void *rb, const INT *rns, const DISP *rd, MPI_Datatype rt, MPI_Comm comm),
	(sb, sns, sd, st, rb, rns, rd, rt, comm),
	struct neighbours g = neighbours(v, comm); exchange(v, SUM_IF(g.outs, sns, st, g.out), SUM_IF(g.ins, rns, rt, g.in)); moved(v, SUM_IF(g.outs, sns, st, g.out), SUM_IF(g.ins, rns, rt, g.in)))
COLL(Neighbor_alltoallw, Ineighbor_alltoallw, (const void *sb, const INT *sns, const MPI_Aint *sd, const MPI_Datatype *st, void *rb, const INT *rns, const MPI_Aint *rd, const MPI_Datatype *rt, MPI_Comm comm),
	(sb, sns, sd, st, rb, rns, rd, rt, comm),
	struct neighbours g = neighbours(v, comm); exchange(v, SUM_IF(g.outs, sns, st[i_], g.out), SUM_IF(g.ins, rns, rt[i_], g.in)); moved(v, SUM_IF(g.outs, sns, st[i_], g.out), SUM_IF(g.ins, rns, rt[i_], g.in)))

COLL(Put, Rput, (const void *b, INT n, MPI_Datatype t, int target, MPI_Aint d, INT tn, MPI_Datatype tt, MPI_Win win), (b, n, t, target, d, tn, tt, win), put(v, win, target, n, t))
COLL(Get, Rget, (void *b, INT n, MPI_Datatype t, int target, MPI_Aint d, INT tn, MPI_Datatype tt, MPI_Win win), (b, n, t, target, d, tn, tt, win), got(v, win, target, n, t))
COLL(Accumulate, Raccumulate, (const void *b, INT n, MPI_Datatype t, int target, MPI_Aint d, INT tn, MPI_Datatype tt, MPI_Op op, MPI_Win win), (b, n, t, target, d, tn, tt, op, win), put(v, win, target, n, t))
COLL(Get_accumulate, Rget_accumulate, (const void *b, INT n, MPI_Datatype t, void *rb, INT rn, MPI_Datatype rt, int target, MPI_Aint d, INT tn, MPI_Datatype tt, MPI_Op op, MPI_Win win),
	(b, n, t, rb, rn, rt, target, d, tn, tt, op, win), put(v, win, target, op == MPI_NO_OP ? 0 : n, t), got(v, win, target, rn, rt))

FILE_OP(File_read, File_iread, void *, has_read) FILE_OP(File_write, File_iwrite, const void *, wrote)
FILE_OP(File_read_all, File_iread_all, void *, has_read) FILE_OP(File_write_all, File_iwrite_all, const void *, wrote)
FILE_OP(File_read_shared, File_iread_shared, void *, has_read) FILE_OP(File_write_shared, File_iwrite_shared, const void *, wrote)
FILE_AT(File_read_at, File_iread_at, void *, has_read) FILE_AT(File_write_at, File_iwrite_at, const void *, wrote)
FILE_AT(File_read_at_all, File_iread_at_all, void *, has_read) FILE_AT(File_write_at_all, File_iwrite_at_all, const void *, wrote)
CALL(N(File_read_ordered), (MPI_File f, void *b, INT n, MPI_Datatype t, MPI_Status *s), (f, b, n, t, s), has_read(v, n, t))
CALL(N(File_write_ordered), (MPI_File f, const void *b, INT n, MPI_Datatype t, MPI_Status *s), (f, b, n, t, s), wrote(v, n, t))
FILE_BEGIN(File_read_all_begin, void *, has_read) FILE_BEGIN(File_write_all_begin, const void *, wrote)
FILE_BEGIN(File_read_ordered_begin, void *, has_read) FILE_BEGIN(File_write_ordered_begin, const void *, wrote)
CALL(N(File_read_at_all_begin), (MPI_File f, MPI_Offset o, void *b, INT n, MPI_Datatype t), (f, o, b, n, t), has_read(v, n, t))
CALL(N(File_write_at_all_begin), (MPI_File f, MPI_Offset o, const void *b, INT n, MPI_Datatype t), (f, o, b, n, t), wrote(v, n, t))
