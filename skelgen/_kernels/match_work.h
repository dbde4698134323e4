/*
 * What a rank has posted, begun and asked for while calls are read; a part of match.c.
 */
#define NO_ENTRY UINT32_MAX
/* Values of a slot that are not channels. */
#define NOWHERE (UINT32_MAX - 1) /* to MPI_PROC_NULL: no message */
#define LOST (UINT32_MAX - 2)    /* a partner that does not exist: a message without partner */
#define PROC_NULL (-2)
#define PERSISTENT \
	(SKELGEN_MATCH_SEND_INIT | SKELGEN_MATCH_RECEIVE_INIT | SKELGEN_MATCH_COLLECTIVE_INIT)
/* Values of a request's activity that are not entries or messages. */
#define INACTIVE (-1)

struct channel {
	int32_t communicator, source, destination, tag;
	uint32_t head, tail;
};

/* The channel of the calls of a shape on the rank that is being read. */
struct slot {
	uint32_t stamp, channel;
};

struct instance {
	skelgen_call first_call;
	skelgen_call next; /* of a persistent collective: what its next start begins; 0: not yet */
	int32_t arrived, broken;
};

struct work {
	const struct skelgen_match_input *in;
	struct skelgen_match_output *out;
	/* receives, in posting order */
	skelgen_call *entry_call, *entry_done;
	uint32_t *entry_next;
	int64_t entries;
	/* channels and the hash table of their numbers plus one */
	struct channel *channels;
	uint32_t *table;
	uint32_t channel_count, channel_room, table_size;
	struct slot *slots;
	/* collectives: instances of each stream, and how far the rank is in each; then starts */
	struct instance *instances;
	int64_t instance_count, instance_room;
	int64_t *stream_first, *stream_next;
	/*
	 * The latest requests of the rank that is being read, each in the place of an older one:
	 * `requests` of them, a power of two, and behind them as many persistent ones.
	 */
	int64_t *request_call, *active;
	int64_t *begun; /* instance of the creation or the latest start; INACTIVE: none */
	int64_t requests, created, lasting;
	/* group of each communicator that holds the rank that is being read */
	uint8_t *side;
	int32_t rank;
	uint32_t stamp;
};

/* Note which call completes something, where that is asked for. */
static void note_done(skelgen_call *done, int64_t at, int64_t call)
{
	if (done)
		done[at] = (skelgen_call)call;
}

static int64_t find_root(skelgen_call *parent, int64_t call)
{
	while (parent[call] != call) {
		parent[call] = parent[parent[call]];
		call = parent[call];
	}
	return call;
}

static void join(skelgen_call *parent, int64_t a, int64_t b)
{
	if (parent[a] < 0)
		parent[a] = (skelgen_call)a;
	if (parent[b] < 0)
		parent[b] = (skelgen_call)b;
	a = find_root(parent, a);
	b = find_root(parent, b);
	if (a < b)
		parent[b] = (skelgen_call)a;
	else
		parent[a] = (skelgen_call)b;
}

static int allocate(struct work *w, const struct skelgen_match_counts *counts)
{
	const struct skelgen_match_input *in = w->in;
	size_t receives = (size_t)counts->receives + 1, requests;

	w->requests = 1;
	while (w->requests < counts->requests)
		w->requests *= 2;
	requests = 2 * (size_t)w->requests + 1;
	if (counts->receives >= LOST)
		return -1;
	w->entry_call = malloc(receives * sizeof(*w->entry_call));
	if (w->out->receive_done)
		w->entry_done = malloc(receives * sizeof(*w->entry_done));
	w->entry_next = malloc(receives * sizeof(*w->entry_next));
	w->slots = calloc((size_t)in->shapes + 1, sizeof(*w->slots));
	w->instance_count = counts->collectives;
	w->instance_room = counts->collectives + 1;
	w->instances = calloc((size_t)w->instance_room, sizeof(*w->instances));
	w->stream_first = calloc((size_t)in->streams + 1, sizeof(*w->stream_first));
	w->stream_next = calloc((size_t)in->streams + 1, sizeof(*w->stream_next));
	w->request_call = malloc(requests * sizeof(*w->request_call));
	w->active = malloc(requests * sizeof(*w->active));
	w->begun = malloc(requests * sizeof(*w->begun));
	w->side = malloc((size_t)in->communicators + 1);
	if (w->out->receive_done && !w->entry_done)
		return -1;
	return w->entry_call && w->entry_next && w->slots && w->instances && w->stream_first &&
			       w->stream_next && w->request_call && w->active && w->begun && w->side
		       ? 0
		       : -1;
}

static void release(struct work *w)
{
	free(w->entry_call);
	free(w->entry_done);
	free(w->entry_next);
	free(w->channels);
	free(w->table);
	free(w->slots);
	free(w->instances);
	free(w->stream_first);
	free(w->stream_next);
	free(w->request_call);
	free(w->active);
	free(w->begun);
	free(w->side);
}
