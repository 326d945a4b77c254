// mpi_volumes.h: how much a call sends and receives, by the naive and by the
// minimal accounting of Fig. 4 in Fürlinger and Moore, OpenMP-centric
// Performance Analysis of Hybrid Applications. Written from that figure and the
// MPI standard alone, so that it can disagree with the tool.
//
// Beyond the figure: nothing goes to or comes from MPI_PROC_NULL. MPI_IN_PLACE
// stands for the count and type of the other buffer. In an intercommunicator the
// peers are the remote group, and no process is its own peer. Neighbourhood
// collectives have the neighbours for peers, without MPI_PROC_NULL.
//
// A process may be alone in its communicator. The figure's formula of the minimal
// accounting has such a process send data in a broadcast, a reduction or a scatter.
// The paper's text defines the minimal accounting as the data that must be sent.
// Here this text decides: a process without peers sends nothing.

// Bytes of n elements.
static uint64_t size(MPI_Count n, MPI_Datatype type)
{
	MPI_Count one = 0;
	if (n == 0)
		return 0;
	PMPI_Type_size_x(type, &one);
	return (uint64_t)n * (uint64_t)one;
}

// The sum over the counts, all or without one index.
#define SUM_BUT(n, counts, type, but)                                           \
	({                                                                      \
		uint64_t sum_ = 0;                                              \
		for (int i_ = 0; i_ < (int)(n); i_++)                           \
			if (i_ != (but))                                        \
				sum_ += size((counts)[i_], type);               \
		sum_;                                                           \
	})
#define SUM(n, counts, type) SUM_BUT(n, counts, type, -1)
#define SUM_TYPES(n, counts, types)                                             \
	({                                                                      \
		uint64_t sum_ = 0;                                              \
		for (int i_ = 0; i_ < (int)(n); i_++)                           \
			sum_ += size((counts)[i_], (types)[i_]);                \
		sum_;                                                           \
	})

static void out(struct volume *v, uint64_t naive, uint64_t minimal)
{
	v->out[NAIVE] = naive;
	v->out[MINIMAL] = minimal;
	v->moves = true;
}

static void in(struct volume *v, uint64_t naive, uint64_t minimal)
{
	v->in[NAIVE] = naive;
	v->in[MINIMAL] = minimal;
	v->moves = true;
}

// Point to point, one-sided

static void sent(struct volume *v, MPI_Comm comm, int dest, MPI_Count n, MPI_Datatype type)
{
	uint64_t bytes = dest == MPI_PROC_NULL ? 0 : size(n, type);
	out(v, bytes, bytes);
	v->sends++;
	if (dest != MPI_PROC_NULL)
		v->to = (struct message){true, bytes, in_comm(comm, dest)};
}

static void received(struct volume *v, MPI_Comm comm, int source, MPI_Count n, MPI_Datatype type)
{
	uint64_t bytes = source == MPI_PROC_NULL ? 0 : size(n, type);
	in(v, bytes, bytes);
	v->recvs++;
	if (source != MPI_PROC_NULL)
		v->from = (struct message){true, bytes, in_comm(comm, source)};
	v->comm = comm;
}

static void put(struct volume *v, MPI_Win win, int target, MPI_Count n, MPI_Datatype type)
{
	uint64_t bytes = target == MPI_PROC_NULL ? 0 : size(n, type);
	out(v, bytes, bytes);
	if (target != MPI_PROC_NULL)
		v->to = (struct message){true, bytes, in_window(win, target)};
}

static void got(struct volume *v, MPI_Win win, int target, MPI_Count n, MPI_Datatype type)
{
	uint64_t bytes = target == MPI_PROC_NULL ? 0 : size(n, type);
	in(v, bytes, bytes);
	if (target != MPI_PROC_NULL)
		v->from = (struct message){true, bytes, in_window(win, target)};
}

// The data of a collective operation: what goes to or comes from one process, the larger of the two.
// Of arrays, their sums.
static void moved(struct volume *v, uint64_t s, uint64_t r)
{
	v->data = (struct message){true, s > r ? s : r, {0}};
}

// Collectives

struct peers {
	int me;
	uint64_t np;     // that data comes from or goes to, as the figure's np
	uint64_t others; // the figure's np - 1
	uint64_t local;  // size of the own group
	bool inter;
};

static struct peers peers(struct volume *v, MPI_Comm comm)
{
	struct peers p;
	int size, inter;
	PMPI_Comm_rank(comm, &p.me);
	PMPI_Comm_size(comm, &size);
	p.np = p.local = (uint64_t)size;
	p.others = p.np - 1;
	PMPI_Comm_test_inter(comm, &inter);
	p.inter = inter;
	if (inter) {
		PMPI_Comm_remote_size(comm, &size);
		p.np = p.others = (uint64_t)size;
	}
	v->colls++;
	v->moves = true;
	return p;
}

enum role { ROOT, LEAF, NONE };

static enum role role(struct peers p, int root)
{
	if (!p.inter)
		return p.me == root ? ROOT : LEAF;
	if (root == MPI_ROOT)
		return ROOT;
	return root == MPI_PROC_NULL ? NONE : LEAF;
}

static void bcast(struct volume *v, MPI_Comm comm, int root, MPI_Count n, MPI_Datatype t)
{
	struct peers p = peers(v, comm);
	if (role(p, root) != NONE)
		moved(v, size(n, t), 0);
	switch (role(p, root)) {
	case ROOT: out(v, size(n, t) * p.others, p.others ? size(n, t) : 0); break;
	case LEAF: in(v, size(n, t), size(n, t)); break;
	case NONE: break;
	}
}

static void reduce(struct volume *v, MPI_Comm comm, int root, MPI_Count n, MPI_Datatype t)
{
	struct peers p = peers(v, comm);
	if (role(p, root) != NONE)
		moved(v, size(n, t), 0);
	switch (role(p, root)) {
	case ROOT: in(v, size(n, t) * p.others, p.others ? size(n, t) : 0); break;
	case LEAF: out(v, size(n, t), size(n, t)); break;
	case NONE: break;
	}
}

static void allreduce(struct volume *v, MPI_Comm comm, MPI_Count n, MPI_Datatype t)
{
	struct peers p = peers(v, comm);
	moved(v, size(n, t), 0);
	out(v, size(n, t) * p.others, size(n, t) * p.others);
	in(v, size(n, t) * p.others, size(n, t) * p.others);
}

// total is what all processes of the own group get, mine what this one gets.
static void reduce_scatter(struct volume *v, struct peers p, uint64_t total, uint64_t mine)
{
	uint64_t sends = p.inter ? total : total - mine;
	out(v, sends, sends);
	in(v, mine * p.others, p.others ? mine : 0);
}

// A scan is a chain: the first process receives nothing, and the last sends
// nothing.
static void scan(struct volume *v, MPI_Comm comm, MPI_Count n, MPI_Datatype t)
{
	struct peers p = peers(v, comm);
	uint64_t d = size(n, t);
	moved(v, d, 0);
	uint64_t sends = (uint64_t)p.me + 1 < p.np ? d : 0, receives = p.me > 0 ? d : 0;
	out(v, sends, sends);
	in(v, receives, receives);
}

// The same for gather and scatter with one count or many: all is what the root
// moves with everybody, own what it moves with itself.
static void gather_root(struct volume *v, struct peers p, uint64_t own, uint64_t all)
{
	out(v, p.inter ? 0 : own, p.inter ? 0 : own);
	in(v, all, all);
}

static void scatter_root(struct volume *v, struct peers p, uint64_t all, uint64_t own)
{
	out(v, all, all);
	in(v, p.inter ? 0 : own, p.inter ? 0 : own);
}

static void exchange(struct volume *v, uint64_t sends, uint64_t receives)
{
	out(v, sends, sends);
	in(v, receives, receives);
}

static void allgather(struct volume *v, struct peers p, uint64_t s, uint64_t all)
{
	out(v, s * p.np, s);
	in(v, all, all);
}

// Neighbours

enum { MAX_NEIGHBOURS = 64 };

struct neighbours {
	int ins, outs;                                      // entries of the counts
	bool in[MAX_NEIGHBOURS], out[MAX_NEIGHBOURS];       // false: MPI_PROC_NULL
	uint64_t np_in, np_out;                             // without those
};

static struct neighbours neighbours(struct volume *v, MPI_Comm comm)
{
	struct neighbours g = {0};
	int kind, dims, me, weighted;
	v->colls++;
	PMPI_Topo_test(comm, &kind);
	switch (kind) {
	case MPI_CART:
		PMPI_Cartdim_get(comm, &dims);
		g.ins = g.outs = 2 * dims;
		for (int d = 0; d < dims; d++) {
			int below, above;
			PMPI_Cart_shift(comm, d, 1, &below, &above);
			g.in[2 * d] = g.out[2 * d] = below != MPI_PROC_NULL;
			g.in[2 * d + 1] = g.out[2 * d + 1] = above != MPI_PROC_NULL;
		}
		break;
	case MPI_GRAPH:
		PMPI_Comm_rank(comm, &me);
		PMPI_Graph_neighbors_count(comm, me, &g.ins);
		g.outs = g.ins;
		memset(g.in, true, sizeof g.in);
		memset(g.out, true, sizeof g.out);
		break;
	case MPI_DIST_GRAPH:
		PMPI_Dist_graph_neighbors_count(comm, &g.ins, &g.outs, &weighted);
		memset(g.in, true, sizeof g.in);
		memset(g.out, true, sizeof g.out);
		break;
	}
	for (int i = 0; i < g.ins; i++)
		g.np_in += g.in[i];
	for (int i = 0; i < g.outs; i++)
		g.np_out += g.out[i];
	return g;
}

#define SUM_IF(n, counts, type, there)                                          \
	({                                                                      \
		uint64_t sum_ = 0;                                              \
		for (int i_ = 0; i_ < (n); i_++)                                \
			if ((there)[i_])                                        \
				sum_ += size((counts)[i_], type);               \
		sum_;                                                           \
	})

// Files

static void wrote(struct volume *v, MPI_Count n, MPI_Datatype type)
{
	v->written = size(n, type);
	v->moves = true;
}

static void has_read(struct volume *v, MPI_Count n, MPI_Datatype type)
{
	v->read = size(n, type);
	v->moves = true;
}
