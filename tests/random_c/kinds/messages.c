/* Kinds of step: messages between the ranks of a communicator. */

/* Send around the ring by blocking calls; the first rank begins. */
static void around(struct step *s, int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
	const struct group *g = group_of(s);
	int right = (g->rank + 1) % g->size, left = (g->rank + g->size - 1) % g->size;
	int *out = fill(s, s->count), *in = in_of(s);
	MPI_Status status;

	if (g->size < 2)
		return;
	if (!g->rank)
		send(out, s->count, MPI_INT, right, s->tag, g->comm);
	MPI_Recv(in, s->count, MPI_INT, left, s->tag, g->comm, &status);
	if (g->rank)
		send(out, s->count, MPI_INT, right, s->tag, g->comm);
	take(s, in, came(s, &status));
}

/* Kind: standard sends around a ring. */
static void sends(struct step *s)
{
	around(s, MPI_Send);
}

/* Kind: synchronous sends around a ring. */
static void synchronous_sends(struct step *s)
{
	around(s, MPI_Ssend);
}

/* Kind: buffered sends with a buffer attached for them. */
static void buffered_sends(struct step *s)
{
	int bytes = s->count * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
	void *buffer = malloc((size_t)bytes);

	MPI_Buffer_attach(buffer, bytes);
	around(s, MPI_Bsend);
	MPI_Buffer_detach(&buffer, &bytes);
	free(buffer);
}

/* Kind: ready sends to receives of which the sender was told. */
static void ready_sends(struct step *s)
{
	const struct group *g = group_of(s);
	int to = next_in(s), from = previous_in(s), *in = in_of(s);
	MPI_Request request;

	MPI_Irecv(in, s->count, MPI_INT, from, s->tag, g->comm, &request);
	MPI_Sendrecv(NULL, 0, MPI_INT, from, s->tag + 1, NULL, 0, MPI_INT, to, s->tag + 1, g->comm,
		     MPI_STATUS_IGNORE);
	if (s->variant % 2) {
		MPI_Request sent;

		MPI_Irsend(fill(s, s->count), s->count, MPI_INT, to, s->tag, g->comm, &sent);
		MPI_Wait(&sent, MPI_STATUS_IGNORE);
	} else {
		MPI_Rsend(fill(s, s->count), s->count, MPI_INT, to, s->tag, g->comm);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	take(s, in, s->count);
}

/* Post receives from and sends to some neighbours; return how many requests. */
static int post(struct step *s)
{
	const struct group *g = group_of(s);
	int n = 1 + s->variant % 3, c = s->count, *out = fill(s, n * c), *in = in_of(s);

	for (int i = 0; i < n; i++) {
		int by = s->shift + i, to = (g->rank + by) % g->size;
		int from = (g->rank + 16 * g->size - by) % g->size;

		MPI_Irecv(in + i * c, c, MPI_INT, from, s->tag + i, g->comm, &s->request[i]);
		if (s->variant & 4)
			MPI_Issend(out + i * c, c, MPI_INT, to, s->tag + i, g->comm,
				   &s->request[n + i]);
		else
			MPI_Isend(out + i * c, c, MPI_INT, to, s->tag + i, g->comm,
				  &s->request[n + i]);
	}
	return 2 * n;
}

static void received(struct step *s, int requests)
{
	take(s, in_of(s), s->count * requests / 2);
}

/* Kind: nonblocking messages, each completed by Wait. */
static void waits(struct step *s)
{
	int n = post(s);

	for (int i = n; i-- > 0;)
		MPI_Wait(&s->request[i], MPI_STATUS_IGNORE);
	received(s, n);
}

/* Kind: nonblocking messages, completed by Waitall with statuses. */
static void wait_for_all(struct step *s)
{
	MPI_Status statuses[REQUESTS];
	int n = post(s);

	MPI_Waitall(n, s->request, statuses);
	for (int i = 0; i < n / 2; i++)
		came(s, &statuses[i]);
	received(s, n);
}

/* Now more, now fewer messages to the next rank: how many requests these are. */
static int post_some(struct step *s)
{
	int n = 1 + (5 * s->trip + s->variant) % 7;

	for (int i = 0; i < n; i++)
		MPI_Irecv(in_of(s) + i, 1, MPI_INT, previous_in(s), s->tag, group_of(s)->comm,
			  &s->request[i]);
	fill(s, n);
	for (int i = 0; i < n; i++)
		MPI_Isend(out_of(s) + i, 1, MPI_INT, next_in(s), s->tag, group_of(s)->comm,
			  &s->request[n + i]);
	return 2 * n;
}

/* Kind: a number of nonblocking messages that changes, completed by Waitall. */
static void wait_for_a_number(struct step *s)
{
	int n = post_some(s);

	MPI_Waitall(n, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), n / 2);
}

/* Kind: a number of nonblocking messages that changes, each completed by Wait. */
static void waits_for_a_number(struct step *s)
{
	int n = post_some(s);

	for (int i = 0; i < n; i++) {
		MPI_Wait(&s->request[i], MPI_STATUS_IGNORE);
		compute(s);
	}
	take(s, in_of(s), n / 2);
}

/* Messages to the next rank, none of them in many trips; return how many requests. */
static int post_few(struct step *s)
{
	int trip = (int)(mix((unsigned)s->id, (unsigned)s->trip) & 0xff);
	int from = previous_in(s), to = next_in(s), in = (trip >> from) % 3, n = 0;
	int out = (trip >> group_of(s)->rank) % 3;

	for (; n < in; n++)
		MPI_Irecv(in_of(s) + n, 1, MPI_INT, from, s->tag, group_of(s)->comm,
			  &s->request[n]);
	fill(s, out);
	for (int i = 0; i < out; i++)
		MPI_Isend(out_of(s) + i, 1, MPI_INT, to, s->tag, group_of(s)->comm,
			  &s->request[n++]);
	s->pending = in;
	return n;
}

/* Kind: messages that many trips skip, completed by Waitall, with a collective before. */
static void skip_messages(struct step *s)
{
	int n;

	MPI_Barrier(group_of(s)->comm);
	n = post_few(s);
	MPI_Waitall(n, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), s->pending);
}

/* Kind: messages that many trips skip, each completed by Wait. */
static void skip_waits(struct step *s)
{
	int n = post_few(s);

	for (int i = 0; i < n; i++)
		MPI_Wait(&s->request[i], MPI_STATUS_IGNORE);
	take(s, in_of(s), s->pending);
}

/* Kind: nonblocking messages, completed by Waitany until none is left. */
static void wait_for_any(struct step *s)
{
	int n = post(s), which, found = 0;

	for (;;) {
		MPI_Waitany(n, s->request, &which, MPI_STATUS_IGNORE);
		if (which == MPI_UNDEFINED)
			break;
		found += which;
	}
	note(s, found);
	received(s, n);
}

/* Kind: nonblocking messages, completed by Waitsome until none is left. */
static void wait_for_some(struct step *s)
{
	int n = post(s), count, which[REQUESTS], found = 0;

	for (;;) {
		MPI_Waitsome(n, s->request, &count, which, MPI_STATUSES_IGNORE);
		if (count == MPI_UNDEFINED)
			break;
		found += count;
	}
	note(s, found);
	received(s, n);
}

/* Kind: nonblocking messages, polled by Test one after the other. */
static void tests(struct step *s)
{
	int n = post(s), done;

	for (int i = 0; i < n; i++)
		do
			MPI_Test(&s->request[i], &done, MPI_STATUS_IGNORE);
		while (!done);
	received(s, n);
}

/* Kind: nonblocking messages, polled by Testall. */
static void test_all(struct step *s)
{
	int n = post(s), done;

	do
		MPI_Testall(n, s->request, &done, MPI_STATUSES_IGNORE);
	while (!done);
	received(s, n);
}

/* Kind: nonblocking messages, polled by Testany. */
static void test_any(struct step *s)
{
	int n = post(s), which, done;

	for (int left = n; left;) {
		MPI_Testany(n, s->request, &which, &done, MPI_STATUS_IGNORE);
		left -= done && which != MPI_UNDEFINED;
	}
	received(s, n);
}

/* Kind: nonblocking messages, polled by Testsome. */
static void test_some(struct step *s)
{
	int n = post(s), count, which[REQUESTS];

	for (int left = n; left;) {
		MPI_Testsome(n, s->request, &count, which, MPI_STATUSES_IGNORE);
		left -= count == MPI_UNDEFINED ? left : count;
	}
	received(s, n);
}

/* Kind: requests that are looked at before they are completed. */
static void statuses_of_requests(struct step *s)
{
	MPI_Status status;
	int n = post(s), done;

	do
		MPI_Request_get_status(s->request[0], &done, &status);
	while (!done);
	came(s, &status);
	MPI_Waitall(n, s->request, MPI_STATUSES_IGNORE);
	received(s, n);
}

/* Kind: buffered nonblocking sends. */
static void buffered_nonblocking(struct step *s)
{
	const struct group *g = group_of(s);
	int bytes = s->count * (int)sizeof(int) + MPI_BSEND_OVERHEAD, *in = in_of(s);
	void *buffer = malloc((size_t)bytes);

	MPI_Buffer_attach(buffer, bytes);
	MPI_Ibsend(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, g->comm,
		   &s->request[0]);
	MPI_Recv(in, s->count, MPI_INT, previous_in(s), s->tag, g->comm, MPI_STATUS_IGNORE);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	MPI_Buffer_detach(&buffer, &bytes);
	free(buffer);
	take(s, in, s->count);
}

/* Kind: a message sent and one received by one call. */
static void both_ways(struct step *s)
{
	int *in = in_of(s);
	MPI_Status status;

	MPI_Sendrecv(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, in, s->count,
		     MPI_INT, previous_in(s), s->tag, group_of(s)->comm, &status);
	take(s, in, came(s, &status));
}

/* Kind: a message that replaces the one that was sent. */
static void replaced(struct step *s)
{
	int *data = fill(s, s->count);

	MPI_Sendrecv_replace(data, s->count, MPI_INT, next_in(s), s->tag, previous_in(s), s->tag,
			     group_of(s)->comm, MPI_STATUS_IGNORE);
	take(s, data, s->count);
}

/* Kind: a message sent and one received by one nonblocking call. */
static void both_ways_nonblocking(struct step *s)
{
	int *in = in_of(s);

	MPI_Isendrecv(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, in, s->count,
		      MPI_INT, previous_in(s), s->tag, group_of(s)->comm, &s->request[0]);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	take(s, in, s->count);
}

/* Kind: a message that replaces the one that was sent, nonblocking. */
static void replaced_nonblocking(struct step *s)
{
	int *data = fill(s, s->count);

	MPI_Isendrecv_replace(data, s->count, MPI_INT, next_in(s), s->tag, previous_in(s), s->tag,
			      group_of(s)->comm, &s->request[0]);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	take(s, data, s->count);
}

/* Send fewer elements than there might be. */
static void send_some(struct step *s)
{
	int n = s->count - s->trip % (s->count + 1);

	MPI_Isend(fill(s, n), n, MPI_INT, next_in(s), s->tag, group_of(s)->comm, &s->request[0]);
}

static void sent_some(struct step *s, int n)
{
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	take(s, in_of(s), n);
}

/* Kind: a probe for a message of unknown length. */
static void probes(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Status status;
	int n;

	send_some(s);
	MPI_Probe(previous_in(s), s->tag, g->comm, &status);
	n = came(s, &status);
	MPI_Recv(in_of(s), n, MPI_INT, previous_in(s), s->tag, g->comm, MPI_STATUS_IGNORE);
	sent_some(s, n);
}

/* Kind: polls by Iprobe until a message is there. */
static void polled_probes(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Status status;
	int n, there;

	send_some(s);
	do
		MPI_Iprobe(previous_in(s), s->tag, g->comm, &there, &status);
	while (!there);
	n = came(s, &status);
	MPI_Recv(in_of(s), n, MPI_INT, previous_in(s), s->tag, g->comm, MPI_STATUS_IGNORE);
	sent_some(s, n);
}

/* Kind: a matched probe and receive. */
static void matched_probes(struct step *s)
{
	MPI_Message message;
	MPI_Status status;
	int n;

	send_some(s);
	MPI_Mprobe(previous_in(s), s->tag, group_of(s)->comm, &message, &status);
	n = came(s, &status);
	MPI_Mrecv(in_of(s), n, MPI_INT, &message, MPI_STATUS_IGNORE);
	sent_some(s, n);
}

/* Kind: polls by Improbe, and a nonblocking matched receive. */
static void polled_matched_probes(struct step *s)
{
	MPI_Message message;
	MPI_Status status;
	int n, there;

	send_some(s);
	do
		MPI_Improbe(previous_in(s), s->tag, group_of(s)->comm, &there, &message, &status);
	while (!there);
	n = came(s, &status);
	MPI_Imrecv(in_of(s), n, MPI_INT, &message, &s->request[1]);
	MPI_Wait(&s->request[1], MPI_STATUS_IGNORE);
	sent_some(s, n);
}

/* Kind: a first rank that receives from whoever comes. */
static void from_anyone(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Status status;
	int root = root_of(s), n;

	if (g->rank != root) {
		MPI_Send(fill(s, s->count), s->count, MPI_INT, root, s->tag, g->comm);
		return;
	}
	for (int i = 1; i < g->size; i++) {
		MPI_Recv(in_of(s), s->count, MPI_INT, MPI_ANY_SOURCE, s->tag, g->comm, &status);
		MPI_Get_count(&status, MPI_INT, &n);
		take_any(s, in_of(s), n);
		take_any(s, &status.MPI_SOURCE, 1);
	}
}

/* Kind: nonblocking receives from any source, completed together. */
static void from_anyone_nonblocking(struct step *s)
{
	const struct group *g = group_of(s);
	int root = root_of(s), c = s->count;

	if (g->rank != root) {
		MPI_Send(fill(s, c), c, MPI_INT, root, s->tag, g->comm);
		return;
	}
	for (int i = 0; i < g->size - 1; i++)
		MPI_Irecv(in_of(s) + i * c, c, MPI_INT, MPI_ANY_SOURCE, s->tag, g->comm,
			  &s->request[i]);
	MPI_Waitall(g->size - 1, s->request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < g->size - 1; i++)
		take_any(s, in_of(s) + i * c, c);
}

static void any_tag_begin(struct step *s)
{
	MPI_Comm_dup(group_of(s)->comm, &s->own);
}

/* Kind: receives of any tag, in a communicator of their own. */
static void any_tag(struct step *s)
{
	int *out = fill(s, s->count);
	MPI_Status status;

	for (int i = 0; i < 2; i++)
		MPI_Isend(out, s->count, MPI_INT, next_in(s), s->tag + 5 * i, s->own,
			  &s->request[i]);
	for (int i = 0; i < 2; i++) {
		MPI_Recv(in_of(s), s->count, MPI_INT, previous_in(s), MPI_ANY_TAG, s->own, &status);
		take(s, in_of(s), came(s, &status));
	}
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
}

static void any_tag_end(struct step *s)
{
	MPI_Comm_free(&s->own);
}

/* Kind: a farm: work goes to whoever asks, until all are told to stop. */
static void farm(struct step *s)
{
	const struct group *g = group_of(s);
	int jobs = 2 * g->size, job = 0, stop = -1, *in = in_of(s);
	MPI_Status status;

	if (g->rank)
		while (MPI_Send(&job, 1, MPI_INT, 0, s->tag, g->comm),
		       MPI_Recv(&job, 1, MPI_INT, 0, s->tag, g->comm, &status), job >= 0)
			take_any(s, &job, 1);
	for (int busy = g->rank ? 0 : g->size - 1; busy; job++) {
		MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, s->tag, g->comm, &status);
		busy -= job >= jobs;
		MPI_Send(job < jobs ? &job : &stop, 1, MPI_INT, status.MPI_SOURCE, s->tag, g->comm);
	}
	MPI_Barrier(g->comm); /* else the next farm's first requests may be taken for this one's */
}

/* Kind: messages to nobody and from nobody. */
static void nobody(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Status status;

	MPI_Send(fill(s, s->count), s->count, MPI_INT, MPI_PROC_NULL, s->tag, g->comm);
	MPI_Recv(in_of(s), s->count, MPI_INT, MPI_PROC_NULL, s->tag, g->comm, &status);
	note(s, status.MPI_SOURCE == MPI_PROC_NULL);
	MPI_Irecv(in_of(s), s->count, MPI_INT, MPI_PROC_NULL, s->tag, g->comm, &s->request[0]);
	MPI_Isend(in_of(s), s->count, MPI_INT, MPI_PROC_NULL, s->tag, g->comm, &s->request[1]);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
}

/* Kind: a line: each rank receives from the one before and sends to the one behind. */
static void line(struct step *s)
{
	const struct group *g = group_of(s);
	int before = g->rank ? g->rank - 1 : MPI_PROC_NULL;
	int behind = g->rank + 1 < g->size ? g->rank + 1 : MPI_PROC_NULL;

	memcpy(in_of(s), fill(s, s->count), (size_t)s->count * sizeof(int));
	MPI_Recv(in_of(s), s->count, MPI_INT, before, s->tag, g->comm, MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
	MPI_Send(in_of(s), s->count, MPI_INT, behind, s->tag, g->comm);
}

/* Kind: a message of a rank to itself. */
static void to_itself(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Irecv(in_of(s), s->count, MPI_INT, g->rank, s->tag, g->comm, &s->request[0]);
	MPI_Send(fill(s, s->count), s->count, MPI_INT, g->rank, s->tag, g->comm);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
}

/* Kind: a receive that is cancelled. */
static void cancelled_receive(struct step *s)
{
	MPI_Status status;
	int gone;

	MPI_Irecv(in_of(s), s->count, MPI_INT, MPI_ANY_SOURCE, s->tag, group_of(s)->comm,
		  &s->request[0]);
	MPI_Cancel(&s->request[0]);
	MPI_Wait(&s->request[0], &status);
	MPI_Test_cancelled(&status, &gone);
	note(s, gone);
}

/* Kind: a send that is cancelled, or else received. */
static void cancelled_send(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Status status;
	int gone;

	MPI_Isend(fill(s, s->count), s->count, MPI_INT, g->rank, s->tag, g->comm, &s->request[0]);
	MPI_Cancel(&s->request[0]);
	MPI_Irecv(in_of(s), s->count, MPI_INT, g->rank, s->tag, g->comm, &s->request[1]);
	MPI_Wait(&s->request[0], &status);
	MPI_Test_cancelled(&status, &gone);
	if (gone)
		MPI_Cancel(&s->request[1]);
	MPI_Wait(&s->request[1], MPI_STATUS_IGNORE);
}

/* Kind: the request of a send is freed before it is complete. */
static void freed_request(struct step *s)
{
	const struct group *g = group_of(s);

	MPI_Barrier(g->comm);
	MPI_Isend(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, g->comm,
		  &s->request[0]);
	MPI_Request_free(&s->request[0]);
	MPI_Recv(in_of(s), s->count, MPI_INT, previous_in(s), s->tag, g->comm, MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
	MPI_Barrier(g->comm);
}

/* Kind: completions of no requests at all. */
static void no_requests(struct step *s)
{
	MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int which, done;

	MPI_Waitall(0, none, MPI_STATUSES_IGNORE);
	MPI_Waitall(2, none, MPI_STATUSES_IGNORE);
	MPI_Waitany(2, none, &which, MPI_STATUS_IGNORE);
	MPI_Test(none, &done, MPI_STATUS_IGNORE);
	note(s, done && which == MPI_UNDEFINED);
}

static int query(void *state, MPI_Status *status)
{
	(void)state;
	MPI_Status_set_elements(status, MPI_INT, 3);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int release(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int stop_it(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

/* Kind: a request that the program itself completes. */
static void generalized(struct step *s)
{
	MPI_Request request;
	MPI_Status status;
	int n;

	MPI_Grequest_start(query, release, stop_it, NULL, &request);
	MPI_Grequest_complete(request);
	MPI_Wait(&request, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	note(s, n);
}

/* Complete what an earlier trip posted. */
static void settle(struct step *s)
{
	if (s->pending) {
		MPI_Waitall(s->pending, s->request, MPI_STATUSES_IGNORE);
		s->pending = 0;
		take_any(s, in_of(s), s->count);
	}
}

/* Kind: messages of one trip that the next one completes. */
static void prefetched(struct step *s)
{
	const struct group *g = group_of(s);

	settle(s);
	MPI_Irecv(in_of(s), s->count, MPI_INT, previous_in(s), s->tag, g->comm, &s->request[0]);
	MPI_Isend(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, g->comm,
		  &s->request[1]);
	s->pending = 2;
}

static void prefetched_end(struct step *s)
{
	settle(s);
}

/* Kind: the largest tag that there may be. */
static void largest_tag(struct step *s)
{
	int *found, is_there, largest = 32767;

	MPI_Comm_get_attr(group[0].comm, MPI_TAG_UB, &found, &is_there);
	if (is_there && *found > largest)
		largest = *found;
	MPI_Sendrecv(fill(s, s->count), s->count, MPI_INT, next_in(s), largest, in_of(s), s->count,
		     MPI_INT, previous_in(s), largest, group_of(s)->comm, MPI_STATUS_IGNORE);
	take(s, in_of(s), s->count);
}

/* Kind: messages without data, of which some are received last. */
static void empty_messages(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Status status;

	MPI_Isend(NULL, 0, MPI_INT, next_in(s), s->tag, g->comm, &s->request[0]);
	MPI_Isend(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag + 1, g->comm,
		  &s->request[1]);
	MPI_Recv(in_of(s), s->count, MPI_INT, previous_in(s), s->tag + 1, g->comm, &status);
	take(s, in_of(s), came(s, &status));
	MPI_Recv(NULL, 0, MPI_INT, previous_in(s), s->tag, g->comm, &status);
	came(s, &status);
	MPI_Waitall(2, s->request, MPI_STATUSES_IGNORE);
}

/* Kind: large messages, which wait for their receivers. */
static void large_messages(struct step *s)
{
	enum { LARGE = 60000 };
	int *out = calloc(LARGE, sizeof(int)), *in = calloc(LARGE, sizeof(int));

	out[s->trip % LARGE] = group[0].rank + 1;
	MPI_Sendrecv(out, LARGE, MPI_INT, next_in(s), s->tag, in, LARGE, MPI_INT, previous_in(s),
		     s->tag, group_of(s)->comm, MPI_STATUS_IGNORE);
	take(s, in, LARGE);
	free(out);
	free(in);
}

/* Kind: a message between two ranks that change with each trip. */
static void changing_pair(struct step *s)
{
	const struct group *g = group_of(s);
	int from = (s->root + s->trip) % g->size;
	int to = (from + 1 + s->trip * s->shift % (g->size > 1 ? g->size - 1 : 1)) % g->size;

	if (from == to)
		return;
	if (g->rank == from)
		MPI_Send(fill(s, s->count), s->count, MPI_INT, to, s->tag, g->comm);
	if (g->rank == to) {
		MPI_Recv(in_of(s), s->count, MPI_INT, from, s->tag, g->comm, MPI_STATUS_IGNORE);
		take(s, in_of(s), s->count);
	}
}

/* Kind: messages that are received in another order than they were sent. */
static void other_order(struct step *s)
{
	const struct group *g = group_of(s);
	int c = s->count, *out = fill(s, 3 * c);

	for (int i = 0; i < 3; i++)
		MPI_Isend(out + i * c, c, MPI_INT, next_in(s), s->tag + i, g->comm, &s->request[i]);
	for (int i = 2; i >= 0; i--)
		MPI_Recv(in_of(s) + i * c, c, MPI_INT, previous_in(s), s->tag + i, g->comm,
			 MPI_STATUS_IGNORE);
	MPI_Waitall(3, s->request, MPI_STATUSES_IGNORE);
	take(s, in_of(s), 3 * c);
}

/* Kind: matched probes for any source. */
static void probes_for_anyone(struct step *s)
{
	const struct group *g = group_of(s);
	MPI_Message message;
	MPI_Status status;
	int root = root_of(s), n;

	if (g->rank != root) {
		n = s->count - g->rank % (s->count + 1);
		MPI_Send(fill(s, n), n, MPI_INT, root, s->tag, g->comm);
		return;
	}
	for (int i = 1; i < g->size; i++) {
		if (s->variant % 2) {
			MPI_Mprobe(MPI_ANY_SOURCE, s->tag, g->comm, &message, &status);
			MPI_Get_count(&status, MPI_INT, &n);
			MPI_Mrecv(in_of(s), n, MPI_INT, &message, MPI_STATUS_IGNORE);
		} else {
			MPI_Probe(MPI_ANY_SOURCE, s->tag, g->comm, &status);
			MPI_Get_count(&status, MPI_INT, &n);
			MPI_Recv(in_of(s), n, MPI_INT, status.MPI_SOURCE, s->tag, g->comm,
				 MPI_STATUS_IGNORE);
		}
		take_any(s, in_of(s), n);
	}
}

/* Kind: several requests that are looked at together. */
static void statuses_of_all(struct step *s)
{
	int n = post(s), done, which;

	do
		MPI_Request_get_status_all(n, s->request, &done, MPI_STATUSES_IGNORE);
	while (!done);
	MPI_Request_get_status_any(n, s->request, &which, &done, MPI_STATUS_IGNORE);
	note(s, done);
	MPI_Waitall(n, s->request, MPI_STATUSES_IGNORE);
	received(s, n);
}

/* Kind: a buffer for the sends of one communicator. */
static void buffer_of_communicator(struct step *s)
{
	int bytes = s->count * (int)sizeof(int) + MPI_BSEND_OVERHEAD, *in = in_of(s);
	void *buffer = malloc((size_t)bytes);
	MPI_Comm comm;

	MPI_Comm_dup(group_of(s)->comm, &comm);
	MPI_Comm_attach_buffer(comm, buffer, bytes);
	MPI_Bsend(fill(s, s->count), s->count, MPI_INT, next_in(s), s->tag, comm);
	MPI_Recv(in, s->count, MPI_INT, previous_in(s), s->tag, comm, MPI_STATUS_IGNORE);
	MPI_Comm_flush_buffer(comm);
	MPI_Comm_detach_buffer(comm, &buffer, &bytes);
	free(buffer);
	MPI_Comm_free(&comm);
	take(s, in, s->count);
}
