/* Kinds of step: windows in all their epochs. */

static void window_begin(struct step *s)
{
	const struct group *g = group_of(s);
	int bytes = 2 * s->count * g->size * (int)sizeof(int);

	MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, g->comm, &s->memory, &s->win);
	memset(s->memory, 0, (size_t)bytes);
	MPI_Barrier(g->comm);
}

static void window_end(struct step *s)
{
	MPI_Barrier(group_of(s)->comm);
	MPI_Win_free(&s->win);
	s->memory = NULL;
}

/* Each rank has a place in the memory of each. */
static int place_of(struct step *s)
{
	return group_of(s)->rank * s->count;
}

static void take_memory(struct step *s)
{
	take(s, s->memory, s->count * group_of(s)->size);
}

static void fenced_puts_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: puts between fences. */
static void fenced_puts(struct step *s)
{
	MPI_Win_fence(MPI_MODE_NOPRECEDE, s->win);
	MPI_Put(fill(s, s->count), s->count, MPI_INT, next_in(s), place_of(s), s->count, MPI_INT,
		s->win);
	MPI_Put(out_of(s), s->count, MPI_INT, MPI_PROC_NULL, 0, s->count, MPI_INT, s->win);
	MPI_Win_fence(s->variant % 2 ? MPI_MODE_NOSUCCEED : 0, s->win);
	take_memory(s);
	MPI_Barrier(group_of(s)->comm);
}

static void fenced_puts_end(struct step *s)
{
	MPI_Win_fence(MPI_MODE_NOSUCCEED, s->win);
	window_end(s);
}

static void fenced_gets_begin(struct step *s)
{
	window_begin(s);
	MPI_Win_fence(0, s->win);
}

/* Kind: gets and accumulates in epochs that follow each other. */
static void fenced_gets(struct step *s)
{
	MPI_Get(in_of(s), s->count, MPI_INT, previous_in(s), 0, s->count, MPI_INT, s->win);
	MPI_Win_fence(0, s->win);
	take(s, in_of(s), s->count);
	MPI_Accumulate(fill(s, s->count), s->count, MPI_INT, next_in(s), 0, s->count, MPI_INT,
		       MPI_SUM, s->win);
	MPI_Win_fence(0, s->win);
}

static void fenced_gets_end(struct step *s)
{
	MPI_Win_fence(MPI_MODE_NOSUCCEED, s->win);
	window_end(s);
}

static void exposed_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: post, start, complete and wait, or tests in place of the wait. */
static void exposed(struct step *s)
{
	MPI_Group all, to, from;
	int target = next_in(s), origin = previous_in(s), done = 0;

	MPI_Comm_group(group_of(s)->comm, &all);
	MPI_Group_incl(all, 1, &target, &to);
	MPI_Group_incl(all, 1, &origin, &from);
	MPI_Win_post(from, 0, s->win);
	MPI_Win_start(to, 0, s->win);
	MPI_Put(fill(s, s->count), s->count, MPI_INT, target, place_of(s), s->count, MPI_INT,
		s->win);
	MPI_Win_complete(s->win);
	if (s->variant % 2)
		MPI_Win_wait(s->win);
	else
		while (!done)
			MPI_Win_test(s->win, &done);
	take_memory(s);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Group_free(&all);
}

static void exposed_end(struct step *s)
{
	window_end(s);
}

static void locked_puts_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: puts and gets behind a lock of one rank. */
static void locked_puts(struct step *s)
{
	int kind = s->variant % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to = next_in(s);

	MPI_Win_lock(kind, to, 0, s->win);
	MPI_Put(fill(s, s->count), s->count, MPI_INT, to, place_of(s), s->count, MPI_INT, s->win);
	MPI_Win_unlock(to, s->win);
	MPI_Win_lock(MPI_LOCK_SHARED, to, 0, s->win);
	MPI_Get(in_of(s), s->count, MPI_INT, to, place_of(s), s->count, MPI_INT, s->win);
	MPI_Win_unlock(to, s->win);
	take(s, in_of(s), s->count);
}

static void locked_puts_end(struct step *s)
{
	window_end(s);
}

static void counter_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: a counter that all ranks fetch and add to. */
static void counter(struct step *s)
{
	int one = 1, root = root_of(s), found;

	MPI_Win_lock(MPI_LOCK_SHARED, root, 0, s->win);
	MPI_Fetch_and_op(&one, &found, MPI_INT, root, 0, MPI_SUM, s->win);
	if (s->variant % 2)
		MPI_Win_flush(root, s->win);
	MPI_Win_unlock(root, s->win);
	take_any(s, &found, 1);
}

static void counter_end(struct step *s)
{
	window_end(s);
}

static void swaps_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: places that are compared and swapped. */
static void swaps(struct step *s)
{
	int before = s->trip - 1, after = s->trip, found, to = next_in(s);

	if (s->trip == 1 || s->pending == 0)
		before = 0;
	s->pending = 1;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, s->win);
	MPI_Compare_and_swap(&after, &before, &found, MPI_INT, to, place_of(s), s->win);
	MPI_Win_unlock(to, s->win);
	note(s, found);
}

static void swaps_end(struct step *s)
{
	s->pending = 0;
	window_end(s);
}

static void lasting_begin(struct step *s)
{
	window_begin(s);
	MPI_Win_lock_all(s->variant % 2 ? MPI_MODE_NOCHECK : 0, s->win);
}

/* Kind: an epoch of all ranks that lasts, with flushes of one rank. */
static void lasting(struct step *s)
{
	int to = next_in(s);

	MPI_Put(fill(s, s->count), s->count, MPI_INT, to, place_of(s), s->count, MPI_INT, s->win);
	MPI_Win_flush(to, s->win);
	MPI_Get(in_of(s), s->count, MPI_INT, to, place_of(s), s->count, MPI_INT, s->win);
	MPI_Win_flush_local(to, s->win);
	take(s, in_of(s), s->count);
}

static void lasting_end(struct step *s)
{
	MPI_Win_unlock_all(s->win);
	window_end(s);
}

static void lasting_meetings_begin(struct step *s)
{
	window_begin(s);
	MPI_Win_lock_all(0, s->win);
}

/* Kind: an epoch of all ranks with barriers in it. */
static void lasting_meetings(struct step *s)
{
	int to = next_in(s);

	MPI_Accumulate(fill(s, s->count), s->count, MPI_INT, to, place_of(s), s->count, MPI_INT,
		       MPI_SUM, s->win);
	MPI_Win_flush_all(s->win);
	MPI_Barrier(group_of(s)->comm);
	MPI_Win_sync(s->win);
	MPI_Get(in_of(s), s->count, MPI_INT, root_of(s), 0, s->count, MPI_INT, s->win);
	MPI_Win_flush_local_all(s->win);
	take(s, in_of(s), s->count);
	MPI_Barrier(group_of(s)->comm);
}

static void lasting_meetings_end(struct step *s)
{
	MPI_Win_unlock_all(s->win);
	window_end(s);
}

static void requested_begin(struct step *s)
{
	window_begin(s);
	MPI_Win_lock_all(0, s->win);
}

/* Kind: operations with requests. */
static void requested(struct step *s)
{
	int to = next_in(s), c = s->count;

	MPI_Rput(fill(s, c), c, MPI_INT, to, place_of(s), c, MPI_INT, s->win, &s->request[0]);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	MPI_Win_flush(to, s->win);
	MPI_Rget(in_of(s), c, MPI_INT, to, place_of(s), c, MPI_INT, s->win, &s->request[0]);
	finish_one(s, &s->request[0]);
	take(s, in_of(s), c);
	MPI_Raccumulate(out_of(s), c, MPI_INT, to, place_of(s), c, MPI_INT, MPI_SUM, s->win,
			&s->request[0]);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	MPI_Win_flush(to, s->win);
	MPI_Rget_accumulate(out_of(s), c, MPI_INT, in_of(s), c, MPI_INT, to, place_of(s), c,
			    MPI_INT, MPI_REPLACE, s->win, &s->request[0]);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	MPI_Win_flush(to, s->win);
	take(s, in_of(s), c);
}

static void requested_end(struct step *s)
{
	MPI_Win_unlock_all(s->win);
	window_end(s);
}

static void got_and_added_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: values that are fetched and added to, of several elements. */
static void got_and_added(struct step *s)
{
	int to = next_in(s);

	MPI_Win_lock(MPI_LOCK_SHARED, to, 0, s->win);
	MPI_Get_accumulate(fill(s, s->count), s->count, MPI_INT, in_of(s), s->count, MPI_INT, to,
			   place_of(s), s->count, MPI_INT, MPI_SUM, s->win);
	MPI_Win_unlock(to, s->win);
	take(s, in_of(s), s->count);
	MPI_Win_lock(MPI_LOCK_SHARED, to, 0, s->win);
	MPI_Get_accumulate(NULL, 0, MPI_INT, in_of(s), s->count, MPI_INT, to, place_of(s), s->count,
			   MPI_INT, MPI_NO_OP, s->win);
	MPI_Win_unlock(to, s->win);
	take(s, in_of(s), s->count);
}

static void got_and_added_end(struct step *s)
{
	window_end(s);
}

static void shared_begin(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Comm_split_type(g->comm, MPI_COMM_TYPE_SHARED, g->rank, MPI_INFO_NULL, &s->own);
	MPI_Win_allocate_shared(s->count * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, s->own,
				&s->memory, &s->win);
	MPI_Win_lock_all(0, s->win);
}

/* Kind: memory that ranks share, read and written by themselves. */
static void shared(struct step *s)
{
	MPI_Aint bytes;
	int *theirs, unit, rank, size;

	MPI_Comm_rank(s->own, &rank);
	MPI_Comm_size(s->own, &size);
	memcpy(s->memory, fill(s, s->count), (size_t)s->count * sizeof(int));
	MPI_Win_sync(s->win);
	MPI_Barrier(s->own);
	MPI_Win_sync(s->win);
	MPI_Win_shared_query(s->win, (rank + 1) % size, &bytes, &unit, &theirs);
	take(s, theirs, s->count);
	MPI_Barrier(s->own);
}

static void shared_end(struct step *s)
{
	MPI_Win_unlock_all(s->win);
	MPI_Win_free(&s->win);
	MPI_Comm_free(&s->own);
	s->memory = NULL;
}

static void dynamic_begin(struct step *s)
{
	const struct group *g = group_of(s);

	s->memory = calloc((size_t)s->count, sizeof(int));
	MPI_Win_create_dynamic(MPI_INFO_NULL, g->comm, &s->win);
	MPI_Win_attach(s->win, s->memory, s->count * (int)sizeof(int));
	MPI_Barrier(g->comm);
}

/* Kind: memory that is attached to a window later. */
static void dynamic(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Aint own, all[8];
	int to = next_in(s);

	MPI_Get_address(s->memory, &own);
	MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, g->comm);
	MPI_Win_fence(0, s->win);
	MPI_Put(fill(s, s->count), s->count, MPI_INT, to, all[to], s->count, MPI_INT, s->win);
	MPI_Win_fence(0, s->win);
	take(s, s->memory, s->count);
}

static void dynamic_end(struct step *s)
{
	MPI_Barrier(group_of(s)->comm);
	MPI_Win_detach(s->win, s->memory);
	MPI_Win_free(&s->win);
	free(s->memory);
	s->memory = NULL;
}

static void own_memory_begin(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Alloc_mem(s->count * g->size * (int)sizeof(int), MPI_INFO_NULL, &s->memory);
	memset(s->memory, 0, (size_t)(s->count * g->size) * sizeof(int));
	MPI_Win_create(s->memory, s->count * g->size * (int)sizeof(int), sizeof(int), MPI_INFO_NULL,
		       g->comm, &s->win);
	MPI_Win_fence(0, s->win);
}

/* Kind: a window onto memory of the program, and puts of every second element. */
static void own_memory(struct step *s)
{
	MPI_Datatype second;
	int half = (s->count + 1) / 2;

	MPI_Type_vector(half, 1, 2, MPI_INT, &second);
	MPI_Type_commit(&second);
	MPI_Put(fill(s, 2 * half), 1, second, next_in(s), place_of(s), half, MPI_INT, s->win);
	MPI_Win_fence(0, s->win);
	take_memory(s);
	MPI_Win_fence(0, s->win);
	MPI_Type_free(&second);
}

static void own_memory_end(struct step *s)
{
	int *memory = s->memory;

	window_end(s);
	MPI_Free_mem(memory);
}

/* Kind: a window that lives for one epoch, with information and attributes. */
static void short_window(struct step *s)
{
	int keyval, value = s->id, *found, is_there;
	MPI_Info info, used;

	MPI_Info_create(&info);
	MPI_Info_set(info, "same_disp_unit", "true");
	window_begin(s);
	MPI_Win_set_info(s->win, info);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
	MPI_Win_set_attr(s->win, keyval, &value);
	MPI_Win_get_attr(s->win, keyval, &found, &is_there);
	note(s, is_there ? *found : -1);
	MPI_Win_set_name(s->win, "short");
	MPI_Win_get_info(s->win, &used);
	MPI_Win_fence(0, s->win);
	MPI_Put(fill(s, s->count), s->count, MPI_INT, next_in(s), place_of(s), s->count, MPI_INT,
		s->win);
	MPI_Win_fence(0, s->win);
	take_memory(s);
	MPI_Win_free_keyval(&keyval);
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	window_end(s);
}

static void exposed_to_all_begin(struct step *s)
{
	window_begin(s);
}

/* Kind: post, start, complete and wait between one rank and all others. */
static void exposed_to_all(struct step *s)
{
	const struct group *g = group_of(s);
	int root[1] = {root_of(s)};
	MPI_Group all, first, others;

	MPI_Comm_group(g->comm, &all);
	MPI_Group_incl(all, 1, root, &first);
	MPI_Group_excl(all, 1, root, &others);
	if (g->rank == root[0]) {
		MPI_Win_post(others, 0, s->win);
		MPI_Win_wait(s->win);
		take_memory(s);
	} else {
		MPI_Win_start(first, 0, s->win);
		MPI_Accumulate(fill(s, s->count), s->count, MPI_INT, root[0], place_of(s), s->count,
			       MPI_INT, s->variant % 2 ? MPI_REPLACE : MPI_SUM, s->win);
		MPI_Win_complete(s->win);
	}
	MPI_Group_free(&others);
	MPI_Group_free(&first);
	MPI_Group_free(&all);
}

static void exposed_to_all_end(struct step *s)
{
	window_end(s);
}

static void winner_begin(struct step *s)
{
	window_begin(s);
	MPI_Win_lock_all(0, s->win);
}

/* Kind: all ranks compare and swap one place, and one of them wins. */
static void winner(struct step *s)
{
	int before = 0, after = 1, found, root = root_of(s);

	MPI_Compare_and_swap(&after, &before, &found, MPI_INT, root, 0, s->win);
	MPI_Win_flush(root, s->win);
	take_any(s, &found, 1);
	MPI_Barrier(group_of(s)->comm);
	if (group_of(s)->rank == root) {
		MPI_Accumulate(&before, 1, MPI_INT, root, 0, 1, MPI_INT, MPI_REPLACE, s->win);
		MPI_Win_flush(root, s->win);
	}
	MPI_Barrier(group_of(s)->comm);
}

static void winner_end(struct step *s)
{
	MPI_Win_unlock_all(s->win);
	window_end(s);
}
