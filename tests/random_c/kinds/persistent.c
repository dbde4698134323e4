/* Kinds of step: persistent and partitioned messages. */

static void persistent_begin(struct step *s)
{
	MPI_Comm comm = group_of(s)->comm;

	MPI_Recv_init(in_of(s), s->count, MPI_INT, previous_in(s), s->tag, comm, &s->request[0]);
	MPI_Send_init(out_of(s), s->count, MPI_INT, next_in(s), s->tag, comm, &s->request[1]);
}

/* Kind: persistent messages, started one by one. */
static void persistent(struct step *s)
{
	fill(s, s->count);
	MPI_Start(&s->request[0]);
	MPI_Start(&s->request[1]);
	MPI_Wait(&s->request[1], MPI_STATUS_IGNORE);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
}

static void persistent_end(struct step *s)
{
	MPI_Request_free(&s->request[0]);
	MPI_Request_free(&s->request[1]);
}

static void persistent_modes_begin(struct step *s)
{
	MPI_Comm comm = group_of(s)->comm;
	int bytes = s->count * (int)sizeof(int) + MPI_BSEND_OVERHEAD, c = s->count;

	s->memory = malloc((size_t)bytes);
	for (int i = 0; i < 2; i++)
		MPI_Recv_init(in_of(s) + i * c, c, MPI_INT, previous_in(s), s->tag + i, comm,
			      &s->request[i]);
	MPI_Ssend_init(out_of(s), c, MPI_INT, next_in(s), s->tag, comm, &s->request[2]);
	MPI_Bsend_init(out_of(s), c, MPI_INT, next_in(s), s->tag + 1, comm, &s->request[3]);
}

/* Kind: persistent messages of other modes, started together. */
static void persistent_modes(struct step *s)
{
	int bytes = s->count * (int)sizeof(int) + MPI_BSEND_OVERHEAD, which;

	fill(s, s->count);
	MPI_Buffer_attach(s->memory, bytes);
	MPI_Startall(4, s->request);
	for (int i = 0; i < 4; i++)
		MPI_Waitany(4, s->request, &which, MPI_STATUS_IGNORE);
	MPI_Buffer_detach(&s->memory, &bytes);
	take(s, in_of(s), 2 * s->count);
}

static void persistent_modes_end(struct step *s)
{
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&s->request[i]);
	free(s->memory);
	s->memory = NULL;
}

static void persistent_ready_begin(struct step *s)
{
	MPI_Comm comm = group_of(s)->comm;

	MPI_Recv_init(in_of(s), s->count, MPI_INT, previous_in(s), s->tag, comm, &s->request[0]);
	MPI_Rsend_init(out_of(s), s->count, MPI_INT, next_in(s), s->tag, comm, &s->request[1]);
}

/* Kind: persistent ready sends, behind a barrier. */
static void persistent_ready(struct step *s)
{
	fill(s, s->count);
	MPI_Start(&s->request[0]);
	MPI_Barrier(group_of(s)->comm);
	MPI_Start(&s->request[1]);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), s->count);
}

static void persistent_ready_end(struct step *s)
{
	MPI_Request_free(&s->request[0]);
	MPI_Request_free(&s->request[1]);
}

/* Kind: a persistent request that lives for one message. */
static void persistent_once(struct step *s)
{
	MPI_Comm comm = group_of(s)->comm;

	MPI_Recv_init(in_of(s), s->count, MPI_INT, previous_in(s), s->tag, comm, &s->request[0]);
	MPI_Start(&s->request[0]);
	MPI_Send(fill(s, 1), 1, MPI_INT, next_in(s), s->tag, comm);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&s->request[0]);
	take(s, in_of(s), 1);
}

static void partitioned_begin(struct step *s)
{
	MPI_Comm comm = group_of(s)->comm;

	MPI_Precv_init(in_of(s), 4, s->count, MPI_INT, previous_in(s), s->tag, comm, MPI_INFO_NULL,
		       &s->request[0]);
	MPI_Psend_init(out_of(s), 4, s->count, MPI_INT, next_in(s), s->tag, comm, MPI_INFO_NULL,
		       &s->request[1]);
}

/* Kind: partitioned messages whose parts are marked ready one by one. */
static void partitioned(struct step *s)
{
	fill(s, 4 * s->count);
	MPI_Startall(2, s->request);
	for (int i = 0; i < 4; i++)
		MPI_Pready((i + s->variant) % 4, s->request[1]);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), 4 * s->count);
}

static void partitioned_end(struct step *s)
{
	MPI_Request_free(&s->request[0]);
	MPI_Request_free(&s->request[1]);
}

static void partitioned_polled_begin(struct step *s)
{
	partitioned_begin(s);
}

/* Kind: partitioned messages, ready by ranges and lists, of which parts are awaited. */
static void partitioned_polled(struct step *s)
{
	int there, rest[2] = {3, 2};

	fill(s, 4 * s->count);
	MPI_Startall(2, s->request);
	MPI_Pready_range(0, 1, s->request[1]);
	MPI_Pready_list(2, rest, s->request[1]);
	do
		MPI_Parrived(s->request[0], s->variant % 4, &there);
	while (!there);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), 4 * s->count);
}

static void partitioned_polled_end(struct step *s)
{
	partitioned_end(s);
}
