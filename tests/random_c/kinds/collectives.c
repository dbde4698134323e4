/* Kinds of step: collectives, by blocking, nonblocking and persistent calls. */

/* Kind: barriers. */
static void barrier(struct step *s)
{
	MPI_Barrier(group_of(s)->comm);
}

/* Kind: broadcasts. */
static void bcast(struct step *s)
{
	int *data = fill(s, s->count);

	MPI_Bcast(data, s->count, MPI_INT, root_of(s), group_of(s)->comm);
	take(s, data, s->count);
}

/* What the root of a collective has; others have nothing to look at. */
static void take_root(struct step *s, const int *data, int n)
{
	if (group_of(s)->rank == root_of(s))
		take(s, data, n);
}

/* Kind: gathers, with the root's part in place or not. */
static void gather(struct step *s)
{
	const struct group *g = group_of(s);
	int *in = in_of(s), *out = fill(s, s->count), c = s->count;

	memset(in, 0, (size_t)(c * g->size) * sizeof(int));
	if (s->variant % 2 && g->rank == root_of(s)) {
		memcpy(in + g->rank * c, out, (size_t)c * sizeof(int));
		MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, in, c, MPI_INT, g->rank, g->comm);
	} else {
		MPI_Gather(out, c, MPI_INT, in, c, MPI_INT, root_of(s), g->comm);
	}
	take_root(s, in, c * g->size);
}

/* Parts of different lengths, some of them empty; return how many elements in total. */
static int parts(struct step *s, int *counts, int *places)
{
	int n = 0;

	for (int i = 0; i < group_of(s)->size; i++) {
		counts[i] = (i + s->variant) % 3 * s->count / 2;
		places[i] = n;
		n += counts[i];
	}
	return n;
}

/* Kind: gathers of parts of different lengths. */
static void gatherv(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places);

	MPI_Gatherv(fill(s, counts[g->rank]), counts[g->rank], MPI_INT, in_of(s), counts, places,
		    MPI_INT, root_of(s), g->comm);
	take_root(s, in_of(s), n);
}

/* Kind: scatters, with the root's part in place or not. */
static void scatter(struct step *s)
{
	const struct group *g = group_of(s);
	int *out = fill(s, s->count * g->size), *in = in_of(s), c = s->count;

	if (s->variant % 2 && g->rank == root_of(s)) {
		MPI_Scatter(out, c, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, g->rank, g->comm);
		return;
	}
	MPI_Scatter(out, c, MPI_INT, in, c, MPI_INT, root_of(s), g->comm);
	take(s, in, c);
}

/* Kind: scatters of parts of different lengths. */
static void scatterv(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places);

	MPI_Scatterv(fill(s, n), counts, places, MPI_INT, in_of(s), counts[g->rank], MPI_INT,
		     root_of(s), g->comm);
	take(s, in_of(s), counts[g->rank]);
}

/* Kind: gathers to all, in place or not. */
static void allgather(struct step *s)
{
	const struct group *g = group_of(s);
	int *in = in_of(s), *out = fill(s, s->count), c = s->count;

	if (s->variant % 2) {
		memcpy(in + g->rank * c, out, (size_t)c * sizeof(int));
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, in, c, MPI_INT, g->comm);
	} else {
		MPI_Allgather(out, c, MPI_INT, in, c, MPI_INT, g->comm);
	}
	take(s, in, c * g->size);
}

/* Kind: gathers to all, of parts of different lengths. */
static void allgatherv(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places);

	MPI_Allgatherv(fill(s, counts[g->rank]), counts[g->rank], MPI_INT, in_of(s), counts, places,
		       MPI_INT, g->comm);
	take(s, in_of(s), n);
}

/* Kind: exchanges of all with all, in place or not. */
static void alltoall(struct step *s)
{
	const struct group *g = group_of(s);
	int *out = fill(s, s->count * g->size), *in = in_of(s), c = s->count;

	if (s->variant % 2) {
		memcpy(in, out, (size_t)(c * g->size) * sizeof(int));
		MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, c, MPI_INT, g->comm);
	} else {
		MPI_Alltoall(out, c, MPI_INT, in, c, MPI_INT, g->comm);
	}
	take(s, in, c * g->size);
}

/* What two ranks exchange has the same length both ways. */
static int pairs(struct step *s, int *counts, int *places, int bytes)
{
	const struct group *g = group_of(s);
	int n = 0;

	for (int i = 0; i < g->size; i++) {
		counts[i] = (i + g->rank + s->variant) % 3 * s->count / 2;
		places[i] = n * bytes;
		n += counts[i];
	}
	return n;
}

/* Kind: exchanges of all with all, of parts of different lengths. */
static void alltoallv(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = pairs(s, counts, places, 1);

	MPI_Alltoallv(fill(s, n), counts, places, MPI_INT, in_of(s), counts, places, MPI_INT,
		      g->comm);
	take(s, in_of(s), n);
}

/* Kind: exchanges of all with all, each with a type of its own. */
static void alltoallw(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = pairs(s, counts, places, (int)sizeof(int));
	MPI_Datatype types[8];

	for (int i = 0; i < 8; i++)
		types[i] = (i + g->rank) % 2 ? MPI_INT : MPI_INT32_T;
	MPI_Alltoallw(fill(s, n), counts, places, types, in_of(s), counts, places, types, g->comm);
	take(s, in_of(s), n);
}

/* Operations whose result does not depend on the order. */
static MPI_Op operation_of(const struct step *s)
{
	switch (s->variant % 5) {
	case 0:
		return MPI_MAX;
	case 1:
		return MPI_BXOR;
	case 2:
		return MPI_MIN;
	default:
		return MPI_SUM;
	}
}

/* Kind: reductions to one rank, in place or not. */
static void reduce(struct step *s)
{
	const struct group *g = group_of(s);
	int *data = fill(s, s->count), *in = in_of(s), root = root_of(s);

	if (s->variant & 8 && g->rank == root) {
		MPI_Reduce(MPI_IN_PLACE, data, s->count, MPI_INT, operation_of(s), root, g->comm);
		take(s, data, s->count);
		return;
	}
	MPI_Reduce(data, in, s->count, MPI_INT, operation_of(s), root, g->comm);
	take_root(s, in, s->count);
}

/* Kind: reductions to all, in place or not. */
static void allreduce(struct step *s)
{
	int *data = fill(s, s->count), *in = in_of(s), c = s->count;

	if (s->variant & 8) {
		MPI_Allreduce(MPI_IN_PLACE, data, c, MPI_INT, operation_of(s), group_of(s)->comm);
		take(s, data, c);
		return;
	}
	MPI_Allreduce(data, in, c, MPI_INT, operation_of(s), group_of(s)->comm);
	take(s, in, c);
}

/* Kind: reductions of doubles, and of values with their places. */
static void reduced_places(struct step *s)
{
	const struct group *g = group_of(s);
	struct {
		double value;
		int place;
	} own, least;
	double one = g->rank + 1, total;

	own.value = (g->rank * 5 + s->trip) % 7;
	own.place = g->rank;
	MPI_Allreduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, g->comm);
	MPI_Allreduce(&one, &total, 1, MPI_DOUBLE, MPI_SUM, g->comm);
	note(s, least.place);
	note(s, (int)total);
}

/* Kind: reductions that scatter parts of different lengths. */
static void reduce_scatter(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places);

	MPI_Reduce_scatter(fill(s, n), in_of(s), counts, MPI_INT, operation_of(s), g->comm);
	take(s, in_of(s), counts[g->rank]);
}

/* Kind: reductions that scatter equal parts. */
static void reduce_scatter_block(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Reduce_scatter_block(fill(s, s->count * g->size), in_of(s), s->count, MPI_INT,
				 operation_of(s), g->comm);
	take(s, in_of(s), s->count);
}

/* Kind: reductions over the ranks before this one. */
static void scans(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Scan(fill(s, s->count), in_of(s), s->count, MPI_INT, operation_of(s), g->comm);
	take(s, in_of(s), s->count);
	MPI_Exscan(out_of(s), in_of(s), s->count, MPI_INT, operation_of(s), g->comm);
	if (g->rank)
		take(s, in_of(s), s->count);
}

static void compose(void *in, void *out, int *n, MPI_Datatype *type)
{
	unsigned *a = in, *b = out;

	(void)type;
	for (int i = 0; i < 2 * *n; i += 2) {
		unsigned factor = a[i] * b[i], rest = a[i + 1] * b[i] + b[i + 1];

		b[i] = factor;
		b[i + 1] = rest;
	}
}

/* Kind: reductions by an operation of the program, whose order counts. */
static void own_operation(struct step *s)
{
	MPI_Datatype pair;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(compose, 0, &op);
	MPI_Allreduce(fill(s, 2 * s->count), in_of(s), s->count, pair, op, group_of(s)->comm);
	take(s, in_of(s), 2 * s->count);
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
}

static void add_up(void *in, void *out, int *n, MPI_Datatype *type)
{
	int *a = in, *b = out;

	(void)type;
	for (int i = 0; i < *n; i++)
		b[i] += a[i];
}

/* Kind: reductions by a commutative operation of the program, locally as well. */
static void own_sum(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Op op;

	MPI_Op_create(add_up, 1, &op);
	MPI_Reduce(fill(s, s->count), in_of(s), s->count, MPI_INT, op, root_of(s), g->comm);
	take_root(s, in_of(s), s->count);
	MPI_Reduce_local(out_of(s), in_of(s), 1, MPI_INT, op);
	take_root(s, in_of(s), 1);
	MPI_Op_free(&op);
}

/* Complete a collective by waiting or by polling. */
static void finish_one(struct step *s, MPI_Request *request)
{
	int done = 0;

	compute(s);
	if (s->variant & 16)
		MPI_Wait(request, MPI_STATUS_IGNORE);
	else
		while (!done)
			MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

/* Kind: nonblocking barriers. */
static void ibarrier(struct step *s)
{
	MPI_Ibarrier(group_of(s)->comm, &s->request[0]);
	finish_one(s, &s->request[0]);
}

/* Kind: nonblocking broadcasts. */
static void ibcast(struct step *s)
{
	int *data = fill(s, s->count);

	MPI_Ibcast(data, s->count, MPI_INT, root_of(s), group_of(s)->comm, &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, data, s->count);
}

/* Kind: nonblocking gathers. */
static void igather(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places), *out = fill(s, n + s->count);

	MPI_Igatherv(out, counts[g->rank], MPI_INT, in_of(s), counts, places, MPI_INT, root_of(s),
		     g->comm, &s->request[0]);
	MPI_Igather(out, s->count, MPI_INT, in_of(s) + n, s->count, MPI_INT, root_of(s), g->comm,
		    &s->request[1]);
	finish_one(s, &s->request[1]);
	finish_one(s, &s->request[0]);
	take_root(s, in_of(s), n + s->count * g->size);
}

/* Kind: nonblocking scatters. */
static void iscatter(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places), c = s->count;
	int *out = fill(s, n + c * g->size);

	MPI_Iscatter(out, c, MPI_INT, in_of(s), c, MPI_INT, root_of(s), g->comm, &s->request[0]);
	MPI_Iscatterv(out, counts, places, MPI_INT, in_of(s) + c, counts[g->rank], MPI_INT,
		      root_of(s), g->comm, &s->request[1]);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), c + counts[g->rank]);
}

/* Kind: nonblocking gathers to all. */
static void iallgather(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places), c = s->count;
	int *out = fill(s, n + c), *in = in_of(s);

	MPI_Iallgather(out, c, MPI_INT, in, c, MPI_INT, g->comm, &s->request[0]);
	MPI_Iallgatherv(out, counts[g->rank], MPI_INT, in + c * g->size, counts, places, MPI_INT,
			g->comm, &s->request[1]);
	finish_one(s, &s->request[0]);
	finish_one(s, &s->request[1]);
	take(s, in, n + c * g->size);
}

/* Kind: nonblocking exchanges of all with all. */
static void ialltoall(struct step *s)
{
	const struct group *g = group_of(s);
	int n = s->count * g->size;

	MPI_Ialltoall(fill(s, n), s->count, MPI_INT, in_of(s), s->count, MPI_INT, g->comm,
		      &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), n);
}

/* Kind: nonblocking exchanges of parts of different lengths. */
static void ialltoallv(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = pairs(s, counts, places, 1);

	MPI_Ialltoallv(fill(s, n), counts, places, MPI_INT, in_of(s), counts, places, MPI_INT,
		       g->comm, &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), n);
}

/* Kind: nonblocking exchanges, each with a type of its own. */
static void ialltoallw(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = pairs(s, counts, places, (int)sizeof(int));
	MPI_Datatype types[8];

	for (int i = 0; i < 8; i++)
		types[i] = MPI_INT;
	MPI_Ialltoallw(fill(s, n), counts, places, types, in_of(s), counts, places, types, g->comm,
		       &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), n);
}

/* Kind: nonblocking reductions to one rank. */
static void ireduce(struct step *s)
{
	MPI_Ireduce(fill(s, s->count), in_of(s), s->count, MPI_INT, operation_of(s), root_of(s),
		    group_of(s)->comm, &s->request[0]);
	finish_one(s, &s->request[0]);
	take_root(s, in_of(s), s->count);
}

/* Kind: nonblocking reductions to all. */
static void iallreduce(struct step *s)
{
	MPI_Iallreduce(fill(s, s->count), in_of(s), s->count, MPI_INT, operation_of(s),
		       group_of(s)->comm, &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), s->count);
}

/* Kind: nonblocking reductions that scatter. */
static void ireduce_scatter(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places), c = s->count;
	int *out = fill(s, n + c * g->size);

	MPI_Ireduce_scatter(out, in_of(s), counts, MPI_INT, operation_of(s), g->comm,
			    &s->request[0]);
	MPI_Ireduce_scatter_block(out, in_of(s) + n, c, MPI_INT, operation_of(s), g->comm,
				  &s->request[1]);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), counts[g->rank]);
	take(s, in_of(s) + n, c);
}

/* Kind: nonblocking reductions over the ranks before this one. */
static void iscans(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Iscan(fill(s, s->count), in_of(s), s->count, MPI_INT, operation_of(s), g->comm,
		  &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), s->count);
	MPI_Iexscan(out_of(s), in_of(s), s->count, MPI_INT, operation_of(s), g->comm,
		    &s->request[0]);
	finish_one(s, &s->request[0]);
	if (g->rank)
		take(s, in_of(s), s->count);
}

/* Kind: a collective that the next trip completes, with others in between. */
static void pending_collective(struct step *s)
{
	settle(s);
	MPI_Iallreduce(fill(s, s->count), in_of(s), s->count, MPI_INT, MPI_SUM, group_of(s)->comm,
		       &s->request[0]);
	s->pending = 1;
}

static void pending_collective_end(struct step *s)
{
	settle(s);
}

/* Start a persistent collective and wait for it. */
static void started(struct step *s, int requests)
{
	MPI_Startall(requests, s->request);
	for (int i = 0; i < requests; i++)
		finish_one(s, &s->request[i]);
}

static void freed(struct step *s, int requests)
{
	for (int i = 0; i < requests; i++)
		MPI_Request_free(&s->request[i]);
}

static void persistent_bcast_begin(struct step *s)
{
	MPI_Barrier_init(group_of(s)->comm, MPI_INFO_NULL, &s->request[0]);
	MPI_Bcast_init(out_of(s), s->count, MPI_INT, root_of(s), group_of(s)->comm, MPI_INFO_NULL,
		       &s->request[1]);
}

/* Kind: persistent barriers and broadcasts. */
static void persistent_bcast(struct step *s)
{
	fill(s, s->count);
	started(s, 2);
	take(s, out_of(s), s->count);
}

static void persistent_bcast_end(struct step *s)
{
	freed(s, 2);
}

static void persistent_gather_begin(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Gather_init(out_of(s), s->count, MPI_INT, in_of(s), s->count, MPI_INT, root_of(s),
			g->comm, MPI_INFO_NULL, &s->request[0]);
	MPI_Allgather_init(out_of(s), s->count, MPI_INT, in_of(s) + s->count * g->size, s->count,
			   MPI_INT, g->comm, MPI_INFO_NULL, &s->request[1]);
}

/* Kind: persistent gathers. */
static void persistent_gather(struct step *s)
{
	int n = s->count * group_of(s)->size;

	fill(s, s->count);
	started(s, 2);
	take_root(s, in_of(s), n);
	take(s, in_of(s) + n, n);
}

static void persistent_gather_end(struct step *s)
{
	freed(s, 2);
}

static void persistent_scatter_begin(struct step *s)
{
	MPI_Scatter_init(out_of(s), s->count, MPI_INT, in_of(s), s->count, MPI_INT, root_of(s),
			 group_of(s)->comm, MPI_INFO_NULL, &s->request[0]);
}

/* Kind: persistent scatters. */
static void persistent_scatter(struct step *s)
{
	fill(s, s->count * group_of(s)->size);
	started(s, 1);
	take(s, in_of(s), s->count);
}

static void persistent_scatter_end(struct step *s)
{
	freed(s, 1);
}

static void persistent_alltoall_begin(struct step *s)
{
	MPI_Alltoall_init(out_of(s), s->count, MPI_INT, in_of(s), s->count, MPI_INT,
			  group_of(s)->comm, MPI_INFO_NULL, &s->request[0]);
}

/* Kind: persistent exchanges of all with all. */
static void persistent_alltoall(struct step *s)
{
	fill(s, s->count * group_of(s)->size);
	started(s, 1);
	take(s, in_of(s), s->count * group_of(s)->size);
}

static void persistent_alltoall_end(struct step *s)
{
	freed(s, 1);
}

static void persistent_reduce_begin(struct step *s)
{
	MPI_Allreduce_init(out_of(s), in_of(s), s->count, MPI_INT, operation_of(s),
			   group_of(s)->comm, MPI_INFO_NULL, &s->request[0]);
	MPI_Reduce_init(out_of(s), in_of(s) + s->count, s->count, MPI_INT, operation_of(s),
			root_of(s), group_of(s)->comm, MPI_INFO_NULL, &s->request[1]);
	MPI_Scan_init(out_of(s), in_of(s) + 2 * s->count, s->count, MPI_INT, operation_of(s),
		      group_of(s)->comm, MPI_INFO_NULL, &s->request[2]);
}

/* Kind: persistent reductions. */
static void persistent_reduce(struct step *s)
{
	fill(s, s->count);
	started(s, 3);
	take(s, in_of(s), s->count);
	take_root(s, in_of(s) + s->count, s->count);
	take(s, in_of(s) + 2 * s->count, s->count);
}

static void persistent_reduce_end(struct step *s)
{
	freed(s, 3);
}

static void persistent_parts_begin(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places), own = counts[g->rank];

	/* The arrays stay as they are for as long as the requests live. */
	s->memory = calloc(16, sizeof(int));
	memcpy(s->memory, counts, sizeof(counts));
	memcpy(s->memory + 8, places, sizeof(places));
	MPI_Gatherv_init(out_of(s), own, MPI_INT, in_of(s), s->memory, s->memory + 8, MPI_INT,
			 root_of(s), g->comm, MPI_INFO_NULL, &s->request[0]);
	MPI_Scatterv_init(out_of(s), s->memory, s->memory + 8, MPI_INT, in_of(s) + n, own, MPI_INT,
			  root_of(s), g->comm, MPI_INFO_NULL, &s->request[1]);
	MPI_Allgatherv_init(out_of(s), own, MPI_INT, in_of(s) + n + own, s->memory, s->memory + 8,
			    MPI_INT, g->comm, MPI_INFO_NULL, &s->request[2]);
}

/* Kind: persistent collectives of parts of different lengths. */
static void persistent_parts(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = parts(s, counts, places), own = counts[g->rank];

	fill(s, n);
	started(s, 3);
	take_root(s, in_of(s), n);
	take(s, in_of(s) + n, own + n);
}

static void persistent_parts_end(struct step *s)
{
	freed(s, 3);
	free(s->memory);
	s->memory = NULL;
}

static void persistent_pairs_begin(struct step *s)
{
	const struct group *g = group_of(s);
	int *counts, *places, n;

	s->memory = calloc(16, sizeof(int));
	counts = s->memory;
	places = s->memory + 8;
	n = pairs(s, counts, places, 1);
	MPI_Alltoallv_init(out_of(s), counts, places, MPI_INT, in_of(s), counts, places, MPI_INT,
			   g->comm, MPI_INFO_NULL, &s->request[0]);
	MPI_Reduce_scatter_block_init(out_of(s), in_of(s) + n, s->count, MPI_INT, operation_of(s),
				      g->comm, MPI_INFO_NULL, &s->request[1]);
	MPI_Exscan_init(out_of(s), in_of(s) + n + s->count, s->count, MPI_INT, operation_of(s),
			g->comm, MPI_INFO_NULL, &s->request[2]);
}

/* Kind: persistent exchanges of different lengths, reductions that scatter, and scans. */
static void persistent_pairs(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = pairs(s, counts, places, 1);

	fill(s, n + s->count * g->size);
	started(s, 3);
	take(s, in_of(s), n + s->count);
	if (g->rank)
		take(s, in_of(s) + n + s->count, s->count);
}

static void persistent_pairs_end(struct step *s)
{
	freed(s, 3);
	free(s->memory);
	s->memory = NULL;
}

/* Kind: several collectives under way at a time, completed in the other order. */
static void collectives_at_once(struct step *s)
{
	const struct group *g = group_of(s);
	int c = s->count, *out = fill(s, c), *in = in_of(s);

	MPI_Iallreduce(out, in, c, MPI_INT, MPI_SUM, g->comm, &s->request[0]);
	MPI_Iallgather(out, c, MPI_INT, in + c, c, MPI_INT, g->comm, &s->request[1]);
	MPI_Ibarrier(g->comm, &s->request[2]);
	MPI_Ibcast(in + (1 + g->size) * c, c, MPI_INT, root_of(s), g->comm, &s->request[3]);
	for (int i = 3; i >= 0; i--)
		finish_one(s, &s->request[i]);
	take(s, in, c * (2 + g->size));
}
