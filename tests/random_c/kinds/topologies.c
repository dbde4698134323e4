/* Kinds of step: topologies and what neighbours exchange. */

/* A grid in one or two dimensions, which goes around in some of them. */
static void grid_begin(struct step *s)
{
	const struct group *g = group_of(s);
	int sizes[2] = {0, 0}, cyclic[2] = {s->variant & 1, (s->variant & 2) / 2};
	int dimensions = 1 + s->variant % 2;

	MPI_Dims_create(g->size, dimensions, sizes);
	MPI_Cart_create(g->comm, dimensions, sizes, cyclic, 0, &s->own);
	memset(in_of(s), 0, (size_t)(8 * s->count) * sizeof(int));
}

static void grid_end(struct step *s)
{
	MPI_Comm_free(&s->own);
}

static int neighbours_in(const struct step *s)
{
	return 2 * (1 + s->variant % 2);
}

static void shifts_begin(struct step *s)
{
	grid_begin(s);
}

/* Kind: shifts in a grid, at whose borders there is nobody. */
static void shifts(struct step *s)
{
	int dimensions = 1 + s->variant % 2, from, to, *in = in_of(s);
	MPI_Status status;

	for (int i = 0; i < dimensions; i++) {
		MPI_Cart_shift(s->own, i, 1, &from, &to);
		MPI_Sendrecv(fill(s, s->count), s->count, MPI_INT, to, s->tag, in, s->count,
			     MPI_INT, from, s->tag, s->own, &status);
		if (from != MPI_PROC_NULL)
			take(s, in, came(s, &status));
	}
}

static void shifts_end(struct step *s)
{
	grid_end(s);
}

static void grid_gather_begin(struct step *s)
{
	grid_begin(s);
}

/* Kind: gathers from the neighbours in a grid, of equal and other lengths. */
static void grid_gather(struct step *s)
{
	int n = neighbours_in(s), c = s->count, counts[4] = {c, c, c, c}, places[4];

	for (int i = 0; i < n; i++)
		places[i] = (n - 1 - i) * c;
	MPI_Neighbor_allgather(fill(s, c), c, MPI_INT, in_of(s), c, MPI_INT, s->own);
	take(s, in_of(s), n * c);
	MPI_Neighbor_allgatherv(out_of(s), c, MPI_INT, in_of(s), counts, places, MPI_INT, s->own);
	take(s, in_of(s), n * c);
}

static void grid_gather_end(struct step *s)
{
	grid_end(s);
}

static void grid_exchange_begin(struct step *s)
{
	grid_begin(s);
}

/* Kind: exchanges with the neighbours in a grid, each with a type of its own. */
static void grid_exchange(struct step *s)
{
	int n = neighbours_in(s), c = s->count, counts[4] = {c, c, c, c}, places[4];
	MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
	MPI_Aint bytes[4];

	for (int i = 0; i < n; i++) {
		places[i] = i * c;
		bytes[i] = i * c * (MPI_Aint)sizeof(int);
	}
	MPI_Neighbor_alltoall(fill(s, n * c), c, MPI_INT, in_of(s), c, MPI_INT, s->own);
	take(s, in_of(s), n * c);
	MPI_Neighbor_alltoallv(out_of(s), counts, places, MPI_INT, in_of(s), counts, places,
			       MPI_INT, s->own);
	take(s, in_of(s), n * c);
	MPI_Neighbor_alltoallw(out_of(s), counts, bytes, types, in_of(s), counts, bytes, types,
			       s->own);
	take(s, in_of(s), n * c);
}

static void grid_exchange_end(struct step *s)
{
	grid_end(s);
}

/* A graph in which each rank sends to the next ones and receives from those before. */
static void directed_begin(struct step *s)
{
	const struct group *g = group_of(s);
	int to[2], from[2], n = 1 + s->variant % 2;

	for (int i = 0; i < n; i++) {
		to[i] = (g->rank + i + 1) % g->size;
		from[i] = (g->rank + 2 * g->size - i - 1) % g->size;
	}
	MPI_Dist_graph_create_adjacent(g->comm, n, from, MPI_UNWEIGHTED, n, to, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &s->own);
}

static void graph_exchange_begin(struct step *s)
{
	directed_begin(s);
}

/* Kind: exchanges in a graph whose edges have directions. */
static void graph_exchange(struct step *s)
{
	int in, out, weighted, c = s->count;

	MPI_Dist_graph_neighbors_count(s->own, &in, &out, &weighted);
	MPI_Neighbor_alltoall(fill(s, out * c), c, MPI_INT, in_of(s), c, MPI_INT, s->own);
	take(s, in_of(s), in * c);
}

static void graph_exchange_end(struct step *s)
{
	grid_end(s);
}

static void graph_nonblocking_begin(struct step *s)
{
	directed_begin(s);
}

/* Kind: nonblocking exchanges and gathers in such a graph. */
static void graph_nonblocking(struct step *s)
{
	int n = 1 + s->variant % 2, c = s->count;

	MPI_Ineighbor_alltoall(fill(s, n * c), c, MPI_INT, in_of(s), c, MPI_INT, s->own,
			       &s->request[0]);
	MPI_Ineighbor_allgather(out_of(s), c, MPI_INT, in_of(s) + n * c, c, MPI_INT, s->own,
				&s->request[1]);
	finish_one(s, &s->request[1]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), 2 * n * c);
}

static void graph_nonblocking_end(struct step *s)
{
	grid_end(s);
}

static void graph_persistent_begin(struct step *s)
{
	int c = s->count, n = 1 + s->variant % 2;

	directed_begin(s);
	MPI_Neighbor_alltoall_init(out_of(s), c, MPI_INT, in_of(s), c, MPI_INT, s->own,
				   MPI_INFO_NULL, &s->request[0]);
	MPI_Neighbor_allgather_init(out_of(s), c, MPI_INT, in_of(s) + n * c, c, MPI_INT, s->own,
				    MPI_INFO_NULL, &s->request[1]);
}

/* Kind: persistent exchanges in such a graph. */
static void graph_persistent(struct step *s)
{
	int n = 1 + s->variant % 2;

	fill(s, n * s->count);
	started(s, 2);
	take(s, in_of(s), 2 * n * s->count);
}

static void graph_persistent_end(struct step *s)
{
	freed(s, 2);
	grid_end(s);
}

static void ring_graph_begin(struct step *s)
{
	int size = group_of(s)->size, index[8], edges[16], n = 0;

	for (int i = 0; i < size; i++) {
		edges[n++] = (i + 1) % size;
		edges[n++] = (i + size - 1) % size;
		index[i] = n;
	}
	MPI_Graph_create(group_of(s)->comm, size, index, edges, 0, &s->own);
}

/* Kind: gathers in a graph that all ranks know. */
static void ring_graph(struct step *s)
{
	int count, c = s->count;

	MPI_Graph_neighbors_count(s->own, group_of(s)->rank, &count);
	MPI_Neighbor_allgather(fill(s, c), c, MPI_INT, in_of(s), c, MPI_INT, s->own);
	take(s, in_of(s), count * c);
}

static void ring_graph_end(struct step *s)
{
	grid_end(s);
}

/* Kind: rows and columns of a grid. */
static void grid_parts(struct step *s)
{
	int sizes[2] = {0, 0}, cyclic[2] = {1, 1}, kept[2] = {s->variant % 2, 1 - s->variant % 2};
	MPI_Comm grid, part;

	MPI_Dims_create(group_of(s)->size, 2, sizes);
	MPI_Cart_create(group_of(s)->comm, 2, sizes, cyclic, 0, &grid);
	MPI_Cart_sub(grid, kept, &part);
	MPI_Allreduce(fill(s, s->count), in_of(s), s->count, MPI_INT, MPI_SUM, part);
	take(s, in_of(s), s->count);
	MPI_Comm_free(&part);
	MPI_Comm_free(&grid);
}

static void graph_parts_begin(struct step *s)
{
	directed_begin(s);
}

/* Kind: nonblocking exchanges of different lengths and types in such a graph. */
static void graph_parts(struct step *s)
{
	int n = 1 + s->variant % 2, c = s->count, counts[2] = {c, c}, places[2] = {0, c};
	MPI_Aint bytes[2] = {0, c * (MPI_Aint)sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};

	MPI_Ineighbor_alltoallv(fill(s, n * c), counts, places, MPI_INT, in_of(s), counts, places,
				MPI_INT, s->own, &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), n * c);
	MPI_Ineighbor_allgatherv(out_of(s), c, MPI_INT, in_of(s), counts, places, MPI_INT, s->own,
				 &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), n * c);
	MPI_Ineighbor_alltoallw(out_of(s), counts, bytes, types, in_of(s), counts, bytes, types,
				s->own, &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), n * c);
}

static void graph_parts_end(struct step *s)
{
	grid_end(s);
}

/* Kind: a line of ranks as a graph: those at its ends have one neighbour. */
static void line_graph(struct step *s)
{
	const struct group *g = group_of(s);
	int near[2], n = 0, c = s->count;
	MPI_Comm comm;

	if (g->rank > 0)
		near[n++] = g->rank - 1;
	if (g->rank + 1 < g->size)
		near[n++] = g->rank + 1;
	MPI_Dist_graph_create_adjacent(g->comm, n, near, MPI_UNWEIGHTED, n, near, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &comm);
	MPI_Neighbor_alltoall(fill(s, n * c), c, MPI_INT, in_of(s), c, MPI_INT, comm);
	take(s, in_of(s), n * c);
	MPI_Comm_free(&comm);
}
