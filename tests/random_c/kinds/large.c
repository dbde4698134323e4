/* Kinds of step: calls with large counts. */

/* Kind: messages by calls with large counts. */
static void large_sends(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Count c = s->count, n;
	MPI_Status status;

	MPI_Irecv_c(in_of(s), c, MPI_INT, previous_in(s), s->tag, g->comm, &s->request[0]);
	if (s->variant % 2)
		MPI_Send_c(fill(s, s->count), c, MPI_INT, next_in(s), s->tag, g->comm);
	else
		MPI_Ssend_c(fill(s, s->count), c, MPI_INT, next_in(s), s->tag, g->comm);
	MPI_Wait(&s->request[0], &status);
	MPI_Get_count_c(&status, MPI_INT, &n);
	take(s, in_of(s), (int)n);
	MPI_Sendrecv_c(out_of(s), c, MPI_INT, next_in(s), s->tag, in_of(s), c, MPI_INT,
		       previous_in(s), s->tag, g->comm, &status);
	take(s, in_of(s), s->count);
}

/* Kind: collectives with large counts. */
static void large_collectives(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Count c = s->count;

	MPI_Bcast_c(fill(s, s->count), c, MPI_INT, root_of(s), g->comm);
	MPI_Allreduce_c(out_of(s), in_of(s), c, MPI_INT, operation_of(s), g->comm);
	take(s, in_of(s), s->count);
	MPI_Allgather_c(out_of(s), c, MPI_INT, in_of(s), c, MPI_INT, g->comm);
	take(s, in_of(s), s->count * g->size);
	MPI_Iallreduce_c(out_of(s), in_of(s), c, MPI_INT, MPI_SUM, g->comm, &s->request[0]);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
}

/* Kind: exchanges with large counts and places. */
static void large_exchanges(struct step *s)
{
	const struct group *g = group_of(s);
	int counts[8], places[8], n = pairs(s, counts, places, 1);
	MPI_Count large[8];
	MPI_Aint at[8];

	for (int i = 0; i < g->size; i++) {
		large[i] = counts[i];
		at[i] = places[i];
	}
	MPI_Alltoallv_c(fill(s, n), large, at, MPI_INT, in_of(s), large, at, MPI_INT, g->comm);
	take(s, in_of(s), n);
}

/* Kind: types that are made with large counts. */
static void large_types(struct step *s)
{
	MPI_Datatype type;

	MPI_Type_vector_c(s->count, 1, 2, MPI_INT, &type);
	exchange(s, type, 2 * s->count);
}

static void large_window_begin(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Aint bytes = s->count * g->size * (MPI_Aint)sizeof(int);

	MPI_Win_allocate_c(bytes, sizeof(int), MPI_INFO_NULL, g->comm, &s->memory, &s->win);
	memset(s->memory, 0, (size_t)bytes);
	MPI_Win_fence(0, s->win);
}

/* Kind: operations on a window with large counts. */
static void large_window(struct step *s)
{
	MPI_Put_c(fill(s, s->count), s->count, MPI_INT, next_in(s), place_of(s), s->count, MPI_INT,
		  s->win);
	MPI_Win_fence(0, s->win);
	take_memory(s);
	MPI_Win_fence(0, s->win);
}

static void large_window_end(struct step *s)
{
	window_end(s);
}

static void large_persistent_begin(struct step *s)
{
	MPI_Comm comm = group_of(s)->comm;

	MPI_Recv_init_c(in_of(s), s->count, MPI_INT, previous_in(s), s->tag, comm, &s->request[0]);
	MPI_Send_init_c(out_of(s), s->count, MPI_INT, next_in(s), s->tag, comm, &s->request[1]);
	MPI_Allreduce_init_c(out_of(s), in_of(s) + s->count, s->count, MPI_INT, MPI_SUM, comm,
			     MPI_INFO_NULL, &s->request[2]);
}

/* Kind: persistent requests with large counts. */
static void large_persistent(struct step *s)
{
	fill(s, s->count);
	MPI_Startall(3, s->request);
	MPI_Waitall(3, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), 2 * s->count);
}

static void large_persistent_end(struct step *s)
{
	freed(s, 3);
}
