/*
 * Where ranks, messages and requests stand; a part of simulate.c.
 */
/* Values of Kind in events/functions.py. */
enum kind {
	SEND = 1,
	RECEIVE,
	SENDRECV,
	ISEND,
	IRECEIVE,
	SEND_INIT,
	RECEIVE_INIT,
	START,
	COMPLETE,
	COLLECTIVE = 11,
	ICOLLECTIVE,
	RELEASE = 14,
	COLLECTIVE_INIT = 16,
	ISENDRECV,
	SIGNAL = 19,
	AWAIT,
};

enum {
	NOBODY = -1,
	SYNCHRONOUS = 1, /* a send that waits for its receive even if eager */
	BUFFERED = 2,    /* a send that never waits */
	DONE = 1,
	WAITED = 2,
	GONE = 4,
	ACTIVE = 8,          /* started and not yet waited for */
	BOTH = 16,           /* both messages of an Isendrecv are under way */
	ALL_OUTSTANDING = 0, /* instead of an age */
};

/* One end of a message, or a participant of a collective, that waits for others. */
struct item {
	int64_t bytes;
	int64_t request; /* NOBODY for a blocking call */
	int32_t rank;
	int32_t next;
	int32_t complete;
};

struct queue {
	int32_t head;
	int32_t tail;
};

struct meeting {
	int64_t bytes;
	int32_t fit;
	int32_t odd;
	int32_t arrived;
	int32_t waiting;
	int32_t next;
	int32_t following; /* that the next starts of a persistent collective lead to */
};

struct simulation {
	const struct skelgen_script *script;
	struct skelgen_outcome *outcome;
	int rendezvous;
	int broken; /* out of memory */
	struct item *item;
	int64_t items;
	int64_t item_room;
	int32_t free_item;
	struct queue *sends;
	struct queue *receives;
	struct meeting *meeting;
	int64_t meetings;
	int64_t meeting_room;
	int32_t *stream_first;
	int32_t *member_last;
	uint8_t *request;
	int32_t *request_row;
	int32_t *request_meeting; /* latest one of a persistent collective */
	int64_t *created;         /* next request of each rank */
	int64_t *outstanding;     /* first request of each rank that may be */
	int64_t *lasting;         /* its latest persistent one; they are numbered from the end */
	int64_t *executed;        /* of each row */
	int64_t *position;
	int32_t *waiting;
	uint8_t *blocked;
	int32_t *ready;
	int32_t readies;
};

static int grow(void **array, int64_t *room, size_t width)
{
	int64_t wanted = *room ? *room * 2 : 1024;
	void *larger = realloc(*array, (size_t)wanted * width);

	if (!larger)
		return -1;
	*array = larger;
	*room = wanted;
	return 0;
}

static void *filled(int64_t count, size_t width)
{
	size_t bytes = ((size_t)count + 1) * width;
	void *array = malloc(bytes);

	if (array)
		memset(array, 0xff, bytes);
	return array;
}

static void *cleared(int64_t count, size_t width)
{
	return calloc((size_t)count + 1, width);
}

static int prepare(struct simulation *sim)
{
	const struct skelgen_script *script = sim->script;
	int64_t requests = script->request_first[script->ranks];
	int32_t rank;

	sim->free_item = NOBODY;
	sim->sends = filled(script->channels, sizeof(*sim->sends));
	sim->receives = filled(script->channels, sizeof(*sim->receives));
	sim->stream_first = filled(script->streams, sizeof(*sim->stream_first));
	sim->member_last = filled(script->members, sizeof(*sim->member_last));
	sim->request = cleared(requests, sizeof(*sim->request));
	sim->request_row = cleared(requests, sizeof(*sim->request_row));
	sim->request_meeting = cleared(requests, sizeof(*sim->request_meeting));
	sim->created = cleared(script->ranks, sizeof(*sim->created));
	sim->outstanding = cleared(script->ranks, sizeof(*sim->outstanding));
	sim->lasting = cleared(script->ranks, sizeof(*sim->lasting));
	sim->executed = cleared(script->rows, sizeof(*sim->executed));
	sim->waiting = cleared(script->ranks, sizeof(*sim->waiting));
	sim->blocked = cleared(script->ranks, sizeof(*sim->blocked));
	sim->ready = cleared(script->ranks, sizeof(*sim->ready));
	if (!sim->sends || !sim->receives || !sim->stream_first || !sim->member_last ||
	    !sim->request || !sim->request_row || !sim->request_meeting || !sim->created ||
	    !sim->outstanding || !sim->lasting || !sim->executed || !sim->waiting ||
	    !sim->blocked || !sim->ready)
		return -1;
	for (rank = 0; rank < script->ranks; rank++) {
		sim->created[rank] = script->request_first[rank];
		sim->outstanding[rank] = script->request_first[rank];
		sim->lasting[rank] = script->request_first[rank + 1];
		sim->position[rank] = -1;
	}
	return 0;
}

static void release(struct simulation *sim)
{
	free(sim->item);
	free(sim->sends);
	free(sim->receives);
	free(sim->meeting);
	free(sim->stream_first);
	free(sim->member_last);
	free(sim->request);
	free(sim->request_row);
	free(sim->request_meeting);
	free(sim->created);
	free(sim->outstanding);
	free(sim->lasting);
	free(sim->executed);
	free(sim->waiting);
	free(sim->blocked);
	free(sim->ready);
}
