/* Kinds of step: communicators that come and go, two groups, sessions, threads and files. */

/* Sum over a communicator that was just made, and free it. */
static void use_and_free(struct step *s, MPI_Comm comm)
{
	if (comm == MPI_COMM_NULL)
		return;
	MPI_Allreduce(fill(s, s->count), in_of(s), s->count, MPI_INT, MPI_SUM, comm);
	take(s, in_of(s), s->count);
	MPI_Comm_free(&comm);
}

/* Kind: a duplicate, made by a blocking or a nonblocking call. */
static void duplicates(struct step *s)
{
	MPI_Comm comm;

	if (s->variant % 3 == 0) {
		MPI_Comm_dup(group_of(s)->comm, &comm);
	} else if (s->variant % 3 == 1) {
		MPI_Comm_dup_with_info(group_of(s)->comm, MPI_INFO_NULL, &comm);
	} else {
		MPI_Comm_idup(group_of(s)->comm, &comm, &s->request[0]);
		MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	}
	use_and_free(s, comm);
}

/* Kind: a communicator that is split, with some ranks in none. */
static void splits(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Comm comm;

	MPI_Comm_split(g->comm, g->rank == root_of(s) ? MPI_UNDEFINED : s->trip % 2 * g->rank % 2,
		       -g->rank, &comm);
	use_and_free(s, comm);
}

/* Kind: the ranks of a node, and a group of ranks. */
static void node_and_group(struct step *s)
{
	const struct group *g = group_of(s);
	int first[1] = {root_of(s)};
	MPI_Group all, others;
	MPI_Comm comm;

	MPI_Comm_split_type(g->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	use_and_free(s, comm);
	MPI_Comm_group(g->comm, &all);
	MPI_Group_excl(all, 1, first, &others);
	MPI_Comm_create(g->comm, others, &comm);
	use_and_free(s, comm);
	MPI_Group_free(&others);
	MPI_Group_free(&all);
}

/* Kind: a communicator that only its own ranks make. */
static void groups_alone(struct step *s)
{
	const struct group *g = group_of(s);
	int first[1] = {root_of(s)};
	MPI_Group all, others;
	MPI_Comm comm;

	MPI_Comm_group(g->comm, &all);
	MPI_Group_excl(all, 1, first, &others);
	if (g->rank != first[0]) {
		MPI_Comm_create_group(g->comm, others, s->tag, &comm);
		use_and_free(s, comm);
	}
	MPI_Group_free(&others);
	MPI_Group_free(&all);
}

static int copies, deletions;

static int copied(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	*(void **)out = in;
	*flag = 1;
	copies++;
	return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	deletions++;
	return MPI_SUCCESS;
}

/* Kind: attributes, names and information of a communicator. */
static void attributes(struct step *s)
{
	int keyval, value = s->id, *found = NULL, is_there, length;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm comm;

	MPI_Comm_create_keyval(copied, deleted, &keyval, NULL);
	MPI_Comm_set_attr(group_of(s)->comm, keyval, &value);
	MPI_Comm_dup(group_of(s)->comm, &comm);
	MPI_Comm_get_attr(comm, keyval, &found, &is_there);
	note(s, is_there ? *found : -1);
	MPI_Comm_set_name(comm, "random");
	MPI_Comm_get_name(comm, name, &length);
	note(s, length);
	MPI_Comm_delete_attr(group_of(s)->comm, keyval);
	use_and_free(s, comm);
	MPI_Comm_free_keyval(&keyval);
	note(s, copies);
	note(s, deletions);
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	handled++;
}

/* Kind: an error that a handler of the program is told of. */
static void errors(struct step *s)
{
	MPI_Errhandler own;
	MPI_Comm comm;
	int before = handled;

	MPI_Comm_dup(group_of(s)->comm, &comm);
	MPI_Comm_create_errhandler(handle, &own);
	MPI_Comm_set_errhandler(comm, own);
	MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
	note(s, handled - before);
	MPI_Errhandler_free(&own);
	use_and_free(s, comm);
}

/* Two groups, the first and the second half of the ranks. */
static MPI_Comm two_groups(struct step *s)
{
	const struct group *g = group_of(s);
	int half = g->size / 2, second = g->rank >= half;
	MPI_Comm mine, both;

	MPI_Comm_split(g->comm, second, g->rank, &mine);
	MPI_Intercomm_create(mine, 0, g->comm, second ? 0 : half, s->tag, &both);
	MPI_Comm_free(&mine);
	return both;
}

static void between_groups_begin(struct step *s)
{
	s->own = group_of(s)->size > 1 ? two_groups(s) : MPI_COMM_NULL;
}

/* Kind: messages between two groups. */
static void between_groups(struct step *s)
{
	const struct group *g = group_of(s);
	int half = g->size / 2, second = g->rank >= half, n = 0, c = s->count;

	if (g->size < 2)
		return;
	fill(s, c);
	for (int i = 0; i < (second ? half : g->size - half); i++) {
		if (second ? i != (g->rank - half) % half : i % half != g->rank)
			continue;
		MPI_Irecv(in_of(s) + n * c, c, MPI_INT, i, s->tag, s->own, &s->request[2 * n]);
		MPI_Isend(out_of(s), c, MPI_INT, i, s->tag, s->own, &s->request[2 * n + 1]);
		n++;
	}
	MPI_Waitall(2 * n, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), n * c);
}

static void between_groups_end(struct step *s)
{
	if (s->own != MPI_COMM_NULL)
		MPI_Comm_free(&s->own);
}

/* Kind: collectives between two groups, and the two as one. */
static void groups_together(struct step *s)
{
	const struct group *g = group_of(s);
	int second = g->rank >= g->size / 2, c = s->count, root = MPI_PROC_NULL;
	MPI_Comm both, one;

	if (g->size < 2)
		return;
	both = two_groups(s);
	MPI_Barrier(both);
	MPI_Allreduce(fill(s, c), in_of(s), c, MPI_INT, MPI_SUM, both);
	take(s, in_of(s), c);
	if (second)
		root = 0;
	else if (!g->rank)
		root = MPI_ROOT;
	MPI_Bcast(second ? in_of(s) : out_of(s), c, MPI_INT, root, both);
	if (second)
		take(s, in_of(s), c);
	MPI_Intercomm_merge(both, second, &one);
	MPI_Comm_free(&both);
	use_and_free(s, one);
}

/* Kind (world): a communicator of a session beside the world. */
static void session(struct step *s)
{
	MPI_Session opened;
	MPI_Group all;
	MPI_Comm comm;
	char name[32];

	snprintf(name, sizeof(name), "skelgen-%d-%d", s->id, s->trip);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &opened);
	MPI_Group_from_session_pset(opened, "mpi://WORLD", &all);
	MPI_Comm_create_from_group(all, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Sendrecv(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, in_of(s), s->count,
		     MPI_INT, previous_in(s), s->tag, comm, MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
	use_and_free(s, comm);
	MPI_Group_free(&all);
	MPI_Session_finalize(&opened);
}

/* What a thread of a rank works on, and its own sum. */
struct worker {
	struct step *step;
	MPI_Comm comm;
	int number, rank, size, out[64], in[64], rounds;
	unsigned long long found;
};

static void *work_alone(void *argument)
{
	struct worker *w = argument;
	int to = (w->rank + 1) % w->size, from = (w->rank + w->size - 1) % w->size;

	for (int i = 0; i < w->rounds; i++) {
		MPI_Request request;
		int total;

		w->out[0] = w->rank * 7 + w->number + i;
		MPI_Irecv(w->in, 64, MPI_INT, from, i, w->comm, &request);
		MPI_Send(w->out, 1 + i % 64, MPI_INT, to, i, w->comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Allreduce(w->in, &total, 1, MPI_INT, MPI_SUM, w->comm);
		w->found += mix((unsigned)(w->rank + 8 * i), (unsigned)(total + w->in[0]));
	}
	return NULL;
}

/* Kind (threads): threads, each with messages in a communicator of its own. */
static void threads(struct step *s)
{
	struct worker workers[THREADS];
	pthread_t started_ones[THREADS];

	memset(workers, 0, sizeof(workers));
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(group_of(s)->comm, &workers[i].comm);
		workers[i].step = s;
		workers[i].number = i;
		workers[i].rounds = 1 + s->variant % 5;
		workers[i].rank = group_of(s)->rank;
		workers[i].size = group_of(s)->size;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&started_ones[i], NULL, work_alone, &workers[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(started_ones[i], NULL);
		sum += workers[i].found;
		MPI_Comm_free(&workers[i].comm);
	}
}

/* What a thread gets ready. */
struct part {
	MPI_Request request;
	int number;
};

static void *ready_alone(void *argument)
{
	struct part *part = argument;

	MPI_Pready(part->number, part->request);
	return NULL;
}

static void thread_parts_begin(struct step *s)
{
	partitioned_begin(s);
}

/* Kind (threads): threads that each get a part of a message ready. */
static void thread_parts(struct step *s)
{
	struct part ready[4];
	pthread_t started_ones[4];

	fill(s, 4 * s->count);
	MPI_Startall(2, s->request);
	for (int i = 0; i < 4; i++) {
		ready[i].request = s->request[1];
		ready[i].number = i;
		pthread_create(&started_ones[i], NULL, ready_alone, &ready[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(started_ones[i], NULL);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), 4 * s->count);
}

static void thread_parts_end(struct step *s)
{
	partitioned_end(s);
}

static void *work_beside(void *argument)
{
	struct worker *w = argument;

	for (int i = 0; i < w->rounds; i++) {
		w->out[0] = w->rank * 3 + w->number + i;
		MPI_Sendrecv(w->out, 1, MPI_INT, (w->rank + 1) % w->size, w->number, w->in, 1,
			     MPI_INT, (w->rank + w->size - 1) % w->size, w->number, w->comm,
			     MPI_STATUS_IGNORE);
		w->found += mix((unsigned)(w->rank + 8 * i), (unsigned)w->in[0]);
	}
	return NULL;
}

/* Kind (threads): a thread that communicates while the first one waits for it. */
static void thread_beside(struct step *s)
{
	struct worker other;
	pthread_t started_one;

	memset(&other, 0, sizeof(other));
	MPI_Comm_dup(group_of(s)->comm, &other.comm);
	other.step = s;
	other.number = 1;
	other.rounds = 1 + s->variant % 4;
	other.rank = group_of(s)->rank;
	other.size = group_of(s)->size;
	pthread_create(&started_one, NULL, work_beside, &other);
	pthread_join(started_one, NULL);
	sum += other.found;
	MPI_Comm_free(&other.comm);
}

/* Kind: a communicator that is taken apart, made with information and later used. */
static void disconnected(struct step *s)
{
	MPI_Request request;
	MPI_Info info;
	MPI_Comm comm;

	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_exact_length", "true");
	MPI_Comm_idup_with_info(group_of(s)->comm, info, &comm, &request);
	MPI_Info_free(&info);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Bcast(fill(s, s->count), s->count, MPI_INT, root_of(s), comm);
	take(s, out_of(s), s->count);
	MPI_Comm_disconnect(&comm);
}

/* Kind: a file that all ranks write and read. */
static void files(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Offset place = (MPI_Offset)g->rank * s->count * (MPI_Offset)sizeof(int);
	char name[64];
	MPI_File file;

	snprintf(name, sizeof(name), "file-%d-%d-%d", s->id, s->trip, g->colour);
	MPI_File_open(g->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
		      MPI_INFO_NULL, &file);
	MPI_File_write_at_all(file, place, fill(s, s->count), s->count, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at(file, place, in_of(s), s->count, MPI_INT, MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
	MPI_File_close(&file);
}

/* Kind: pauses and marks of the recording. */
static void controls(struct step *s)
{
	MPI_Pcontrol(0);
	MPI_Barrier(group_of(s)->comm);
	MPI_Pcontrol(1);
	MPI_Allreduce(fill(s, 1), in_of(s), 1, MPI_INT, MPI_SUM, group_of(s)->comm);
	take(s, in_of(s), 1);
}

/* Kind: calls that are about this rank only. */
static void local_calls(struct step *s)
{
	char name[MPI_MAX_PROCESSOR_NAME];
	int length, ranks[1], of[1] = {0}, result;
	MPI_Group all, mine;

	MPI_Get_processor_name(name, &length);
	MPI_Comm_group(group[0].comm, &all);
	MPI_Comm_group(group_of(s)->comm, &mine);
	MPI_Group_translate_ranks(mine, 1, of, all, ranks);
	MPI_Comm_compare(group[0].comm, group_of(s)->comm, &result);
	note(s, ranks[0]);
	note(s, result);
	MPI_Group_free(&mine);
	MPI_Group_free(&all);
}
