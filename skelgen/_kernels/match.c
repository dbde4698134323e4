/*
 * Join messages and collectives of all ranks into whole matched events.
 *
 * Receives of all ranks are queued by channel (communicator, source, destination, tag) in
 * posting order; then sends take them in posting order. A channel is looked up once for each
 * rank and shape, not for each call. Events are the components of a union-find over calls, whose
 * parent array is the result itself: a parent always has the smaller number.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "match.h"

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
	int64_t first_call;
	int64_t next; /* of a persistent collective: what its next start begins; 0: not yet */
	int32_t arrived, broken;
};

struct work {
	const struct skelgen_match_input *in;
	struct skelgen_match_output *out;
	/* receives, in posting order */
	int64_t *entry_call, *entry_done;
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
	 * Requests of the rank that is being read: number n is the n-th that is not persistent,
	 * number `requests` + 1 - n the n-th persistent one.
	 */
	int64_t *request_call, *active;
	int64_t *begun; /* instance of the creation or the latest start; INACTIVE: none */
	int64_t requests, created, lasting;
	/* group of each communicator that holds the rank that is being read */
	uint8_t *side;
	int32_t rank;
	uint32_t stamp;
};

enum { UNKNOWN, MEMBER, REMOTE, STRANGER };

static int side_of(struct work *w, int32_t communicator)
{
	const struct skelgen_match_input *in = w->in;

	if (w->side[communicator] != UNKNOWN)
		return w->side[communicator];
	w->side[communicator] = STRANGER;
	for (int64_t k = in->remote_first[communicator]; k < in->remote_first[communicator + 1];
	     k++)
		if (in->remotes[k] == w->rank)
			w->side[communicator] = REMOTE;
	for (int64_t k = in->member_first[communicator]; k < in->member_first[communicator + 1];
	     k++)
		if (in->members[k] == w->rank)
			w->side[communicator] = MEMBER;
	return w->side[communicator];
}

/* World rank of a partner, or -1 when there is none. */
static int32_t partner(struct work *w, int32_t communicator, int32_t peer)
{
	const struct skelgen_match_input *in = w->in;
	const int64_t *remote = in->remote_first + communicator;
	const int64_t *member = in->member_first + communicator;
	int side = side_of(w, communicator);

	if (side == STRANGER || peer < 0)
		return -1;
	if (side == MEMBER && remote[1] > remote[0])
		return peer < remote[1] - remote[0] ? in->remotes[remote[0] + peer] : -1;
	return peer < member[1] - member[0] ? in->members[member[0] + peer] : -1;
}

static uint32_t hash_of(const struct channel *key)
{
	uint64_t h = (uint32_t)key->communicator;

	h = (h ^ (uint32_t)key->source) * 0x9e3779b97f4a7c15u;
	h = ((h ^ h >> 32) + (uint32_t)key->destination) * 0x9e3779b97f4a7c15u;
	h = ((h ^ h >> 32) + (uint32_t)key->tag) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

static int same_channel(const struct channel *a, const struct channel *b)
{
	return a->communicator == b->communicator && a->source == b->source &&
	       a->destination == b->destination && a->tag == b->tag;
}

/* Place in the table where a key is or would be. */
static uint32_t probe(const struct work *w, const struct channel *key)
{
	uint32_t at = hash_of(key) & (w->table_size - 1);

	while (w->table[at] && !same_channel(&w->channels[w->table[at] - 1], key))
		at = (at + 1) & (w->table_size - 1);
	return at;
}

static int grow_channels(struct work *w)
{
	uint32_t room = w->channel_room ? 2 * w->channel_room : 256;
	struct channel *channels = realloc(w->channels, room * sizeof(*channels));
	uint32_t *table = calloc(2 * (size_t)room, sizeof(*table));

	if (channels)
		w->channels = channels;
	if (!channels || !table) {
		free(table);
		return -1;
	}
	free(w->table);
	w->table = table;
	w->table_size = 2 * room;
	w->channel_room = room;
	for (uint32_t c = 0; c < w->channel_count; c++)
		w->table[probe(w, &w->channels[c])] = c + 1;
	return 0;
}

/* Channel of a key; LOST when it does not exist and must not be added. */
static int find_channel(struct work *w, const struct channel *key, int add, uint32_t *found)
{
	uint32_t at;

	*found = LOST;
	if (w->channel_count == w->channel_room && grow_channels(w))
		return -1;
	at = probe(w, key);
	if (!w->table[at]) {
		if (!add)
			return 0;
		w->channels[w->channel_count++] = *key;
		w->table[at] = w->channel_count;
	}
	*found = w->table[at] - 1;
	return 0;
}

/* Channel on which the rank sends or receives with a shape. */
static int channel_of(struct work *w, uint32_t shape, int receives, uint32_t *found)
{
	const struct skelgen_match_input *in = w->in;
	int second = receives && in->role[shape] & SKELGEN_MATCH_TWO_SIDED;
	int32_t peer = second ? in->peer2[shape] : in->peer[shape];
	struct channel key = {
		.communicator = in->communicator[shape],
		.source = w->rank,
		.destination = w->rank,
		.tag = second ? in->tag2[shape] : in->tag[shape],
		.head = NO_ENTRY,
		.tail = NO_ENTRY,
	};
	int32_t world = -1;

	if (w->slots[shape].stamp == w->stamp) {
		*found = w->slots[shape].channel;
		return 0;
	}
	if (peer != PROC_NULL && key.communicator >= 0)
		world = partner(w, key.communicator, peer);
	*(receives ? &key.source : &key.destination) = world;
	*found = peer == PROC_NULL ? NOWHERE : LOST;
	if (world >= 0 && find_channel(w, &key, receives, found))
		return -1;
	w->slots[shape].stamp = w->stamp;
	w->slots[shape].channel = *found;
	return 0;
}

/* Note which call completes something, where that is asked for. */
static void note_done(int64_t *done, int64_t at, int64_t call)
{
	if (done)
		done[at] = call;
}

/* Post the receive of a call; its entry, INACTIVE when there is none, or -2 without memory. */
static int64_t post_receive(struct work *w, int64_t call, uint32_t shape)
{
	int64_t entry = w->entries;
	struct channel *channel;
	uint32_t at;

	if (channel_of(w, shape, 1, &at))
		return -2;
	if (at == NOWHERE)
		return INACTIVE;
	w->entries++;
	w->entry_call[entry] = call;
	note_done(w->entry_done, entry, -1);
	w->entry_next[entry] = NO_ENTRY;
	if (at == LOST)
		return entry;
	channel = &w->channels[at];
	if (channel->head == NO_ENTRY)
		channel->head = (uint32_t)entry;
	else
		w->entry_next[channel->tail] = (uint32_t)entry;
	channel->tail = (uint32_t)entry;
	return entry;
}

static int64_t find_root(int64_t *parent, int64_t call)
{
	while (parent[call] != call) {
		parent[call] = parent[parent[call]];
		call = parent[call];
	}
	return call;
}

static void join(int64_t *parent, int64_t a, int64_t b)
{
	if (parent[a] < 0)
		parent[a] = a;
	if (parent[b] < 0)
		parent[b] = b;
	a = find_root(parent, a);
	b = find_root(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

/*
 * Post the send of a call whose bytes are those of another call (its Send_init); its message,
 * INACTIVE when there is none, or -2 without memory.
 */
static int64_t post_send(struct work *w, int64_t call, uint32_t shape, int64_t bytes_call)
{
	struct skelgen_match_output *out = w->out;
	struct channel *channel;
	uint32_t at, entry;
	int64_t message;

	if (channel_of(w, shape, 0, &at))
		return -2;
	if (at == NOWHERE)
		return INACTIVE;
	if (at == LOST) {
		out->lonely[call] = 1;
		return INACTIVE;
	}
	channel = &w->channels[at];
	while (channel->head != NO_ENTRY && w->entry_call[channel->head] < 0)
		channel->head = w->entry_next[channel->head]; /* cancelled */
	entry = channel->head;
	if (entry == NO_ENTRY) {
		out->lonely[call] = 1;
		return INACTIVE;
	}
	channel->head = w->entry_next[entry];
	message = out->messages++;
	out->send_call[message] = call;
	out->receive_call[message] = w->entry_call[entry];
	if (out->receive_done) {
		out->send_done[message] = -1;
		out->receive_done[message] = w->entry_done[entry];
	}
	out->message_bytes[message] = w->in->size_bytes[bytes_call];
	join(out->group, call, w->entry_call[entry]);
	w->entry_call[entry] = -1;
	return message;
}

static void begin_rank(struct work *w, int64_t rank, uint32_t stamp)
{
	w->rank = (int32_t)rank;
	w->stamp = stamp;
	w->created = w->lasting = 0;
	memset(w->side, UNKNOWN, (size_t)w->in->communicators);
	if (w->stream_next)
		memset(w->stream_next, 0, (size_t)w->in->streams * sizeof(*w->stream_next));
}

/* Number of the request of an age, 0 when the trace does not hold its creation. */
static int64_t request_of(const struct work *w, int64_t age)
{
	int64_t sort = age < 0 ? w->lasting : w->created;
	int64_t number = sort + 1 - (age < 0 ? -age : age);

	if (number < 1 || number > sort)
		return 0;
	return age < 0 ? w->requests + 1 - number : number;
}

static void create_request(struct work *w, int64_t call, uint16_t role, int64_t activity,
			   int64_t instance)
{
	int64_t number = role & PERSISTENT ? w->requests - w->lasting++ : ++w->created;

	w->request_call[number] = call;
	w->active[number] = activity;
	w->begun[number] = instance;
}

/* Whether a collective is over when its call returns. */
static int blocks(uint16_t role)
{
	return !(role & SKELGEN_MATCH_CREATES) || role & SKELGEN_MATCH_COLLECTIVE_INIT;
}

/* Instance that a call takes part in; INACTIVE when its rank is no member. */
static int64_t instance_of(struct work *w, uint32_t shape)
{
	int32_t stream = w->in->stream[shape];

	if (side_of(w, w->in->communicator[shape]) == STRANGER)
		return INACTIVE;
	return w->stream_first[stream] + w->stream_next[stream]++;
}

static int64_t arrive(struct work *w, int64_t call, uint32_t shape)
{
	const struct skelgen_match_input *in = w->in;
	int64_t at = instance_of(w, shape);
	struct instance *instance;

	if (blocks(in->role[shape]))
		note_done(w->out->collective_done, call, call);
	if (at == INACTIVE)
		return at;
	instance = &w->instances[at];
	if (!instance->arrived++)
		instance->first_call = call;
	else if (in->kind[in->shape[instance->first_call]] != in->kind[shape])
		instance->broken = 1;
	return at;
}

/*
 * Instance that a start of a persistent collective takes part in, those of one creation in their
 * order; INACTIVE for none, -2 without memory.
 */
static int64_t instance_of_start(struct work *w, int64_t number)
{
	int64_t last = w->begun[number];
	struct instance *larger;

	if (last == INACTIVE)
		return last;
	if (!w->instances[last].next) {
		if (w->instance_count == w->instance_room) {
			larger = realloc(w->instances,
					 2 * (size_t)w->instance_room * sizeof(*larger));
			if (!larger)
				return -2;
			w->instances = larger;
			w->instance_room *= 2;
		}
		w->instances[w->instance_count] = (struct instance){0};
		w->instances[last].next = w->instance_count++;
	}
	w->begun[number] = w->instances[last].next;
	w->instances[w->begun[number]].broken |= w->instances[last].broken;
	return w->begun[number];
}

static int arrive_by_start(struct work *w, int64_t call, int64_t number)
{
	int64_t at = instance_of_start(w, number);

	if (at < 0)
		return at == INACTIVE ? 0 : -1;
	if (!w->instances[at].arrived++)
		w->instances[at].first_call = call;
	w->active[number] = -2 - call;
	return 0;
}

/* Activity of a request in the first reading: an entry, or -2 - call of a collective. */
static void end_receive(struct work *w, int64_t call, int64_t number, int cancelled)
{
	int64_t activity = w->active[number];

	if (cancelled && activity < 0)
		return;
	w->active[number] = INACTIVE;
	if (cancelled)
		w->entry_call[activity] = -1;
	else if (activity >= 0)
		note_done(w->entry_done, activity, call);
	else if (activity <= -2)
		note_done(w->out->collective_done, -2 - activity, call);
}

static int receive_of_request(struct work *w, int64_t call, uint16_t role, int64_t number)
{
	uint32_t shape;

	if (!(role & SKELGEN_MATCH_STARTS)) {
		end_receive(w, call, number, role & SKELGEN_MATCH_CANCELS);
		return 0;
	}
	shape = w->in->shape[w->request_call[number]];
	if (w->in->role[shape] & SKELGEN_MATCH_COLLECTIVE_INIT)
		return arrive_by_start(w, call, number);
	if (!(w->in->role[shape] & SKELGEN_MATCH_RECEIVE_INIT))
		return 0;
	w->active[number] = post_receive(w, call, shape);
	return w->active[number] == -2 ? -1 : 0;
}

/* First reading: queue the receives, count in the participants of collectives. */
static int read_receives(struct work *w, int64_t call)
{
	const struct skelgen_match_input *in = w->in;
	uint32_t shape = in->shape[call];
	uint16_t role = in->role[shape];
	int64_t activity = INACTIVE;
	int64_t instance = INACTIVE;

	if (role & SKELGEN_MATCH_RECEIVES) {
		activity = post_receive(w, call, shape);
		if (activity == -2)
			return -1;
		if (activity >= 0 && !(role & SKELGEN_MATCH_CREATES))
			note_done(w->entry_done, activity, call);
	}
	if (role & SKELGEN_MATCH_COLLECTIVE) {
		instance = arrive(w, call, shape);
		activity = blocks(role) ? INACTIVE : -2 - call;
	}
	if (role & SKELGEN_MATCH_CREATES)
		create_request(w, call, role, activity, instance);
	if (!(role & (SKELGEN_MATCH_STARTS | SKELGEN_MATCH_COMPLETES | SKELGEN_MATCH_CANCELS)))
		return 0;
	for (int64_t k = in->age_first[in->ages[call]]; k < in->age_first[in->ages[call] + 1];
	     k++) {
		int64_t number = request_of(w, in->age_values[k]);

		if (number && receive_of_request(w, call, role, number))
			return -1;
	}
	return 0;
}

/* Whether all participants came to an instance with calls that fit. */
static int whole(const struct work *w, int64_t at, uint32_t shape)
{
	return at >= 0 && !w->instances[at].broken &&
	       w->instances[at].arrived == w->in->stream_size[w->in->stream[shape]];
}

static int64_t join_collective(struct work *w, int64_t call, uint32_t shape)
{
	int64_t at = instance_of(w, shape);

	if (whole(w, at, shape))
		w->out->group[call] = w->instances[at].first_call;
	else
		w->out->lonely[call] = 1;
	return at;
}

static void join_start(struct work *w, int64_t call, int64_t number, uint32_t shape)
{
	int64_t at = instance_of_start(w, number);

	if (whole(w, at, shape))
		join(w->out->group, call, w->instances[at].first_call);
	else
		w->out->lonely[call] = 1;
}

static int send_of_request(struct work *w, int64_t call, uint16_t role, int64_t number)
{
	int64_t init;

	if (role & SKELGEN_MATCH_COMPLETES) {
		if (w->active[number] >= 0)
			note_done(w->out->send_done, w->active[number], call);
		w->active[number] = INACTIVE;
		return 0;
	}
	init = w->request_call[number];
	if (w->in->role[w->in->shape[init]] & SKELGEN_MATCH_COLLECTIVE_INIT) {
		join_start(w, call, number, w->in->shape[init]);
		return 0;
	}
	if (w->in->role[w->in->shape[init]] & SKELGEN_MATCH_SEND_INIT)
		w->active[number] = post_send(w, call, w->in->shape[init], init);
	return w->active[number] == -2 ? -1 : 0;
}

/* Second reading: sends take receives, complete collectives become events. */
static int read_sends(struct work *w, int64_t call)
{
	const struct skelgen_match_input *in = w->in;
	uint32_t shape = in->shape[call];
	uint16_t role = in->role[shape];
	int64_t message = INACTIVE;
	int64_t instance = INACTIVE;

	if (role & SKELGEN_MATCH_SENDS) {
		message = post_send(w, call, shape, call);
		if (message == -2)
			return -1;
		if (message >= 0 && !(role & SKELGEN_MATCH_CREATES))
			note_done(w->out->send_done, message, call);
	}
	if (role & SKELGEN_MATCH_COLLECTIVE)
		instance = join_collective(w, call, shape);
	if (role & SKELGEN_MATCH_CREATES)
		create_request(w, call, role, message, instance);
	if (!w->out->send_done)
		role &= (uint16_t)~SKELGEN_MATCH_COMPLETES;
	if (!(role & (SKELGEN_MATCH_STARTS | SKELGEN_MATCH_COMPLETES)))
		return 0;
	for (int64_t k = in->age_first[in->ages[call]]; k < in->age_first[in->ages[call] + 1];
	     k++) {
		int64_t number = request_of(w, in->age_values[k]);

		if (number && send_of_request(w, call, role, number))
			return -1;
	}
	return 0;
}

/* Turn parents into numbers of events, in the order of their first calls. */
static void number_groups(struct skelgen_match_output *out, int64_t calls)
{
	int64_t *group = out->group;

	/* A parent comes before its children: it already holds -2 - number. */
	out->groups = 0;
	for (int64_t call = 0; call < calls; call++) {
		if (group[call] == call)
			group[call] = -2 - out->groups++;
		else if (group[call] >= 0)
			group[call] = group[group[call]];
	}
	for (int64_t call = 0; call < calls; call++)
		if (group[call] < -1)
			group[call] = -2 - group[call];
}

int skelgen_match_count(const struct skelgen_match_input *in, struct skelgen_match_counts *counts)
{
	size_t streams = (size_t)in->streams + 1;
	int64_t *longest = calloc(streams, sizeof(*longest));
	int64_t *length = calloc(streams, sizeof(*length));

	memset(counts, 0, sizeof(*counts));
	for (int64_t rank = 0; rank < in->ranks && longest && length; rank++) {
		int64_t requests = 0;

		memset(length, 0, streams * sizeof(*length));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++) {
			uint32_t shape = in->shape[call], row = in->ages[call];
			uint16_t role = in->role[shape];
			int64_t started = 0;

			if (role & SKELGEN_MATCH_STARTS)
				started = in->age_first[row + 1] - in->age_first[row];
			counts->sends += started + !!(role & SKELGEN_MATCH_SENDS);
			counts->receives += started + !!(role & SKELGEN_MATCH_RECEIVES);
			requests += !!(role & SKELGEN_MATCH_CREATES);
			if (role & SKELGEN_MATCH_COLLECTIVE)
				length[in->stream[shape]]++;
		}
		if (requests > counts->requests)
			counts->requests = requests;
		for (size_t stream = 0; stream < streams; stream++)
			if (length[stream] > longest[stream])
				longest[stream] = length[stream];
	}
	for (size_t stream = 0; stream < streams && longest; stream++)
		counts->collectives += longest[stream];
	free(length);
	free(longest);
	return length && longest ? 0 : -1;
}

/* Give each stream its instances: as many as the rank with the most calls needs. */
static void lay_out_streams(struct work *w)
{
	const struct skelgen_match_input *in = w->in;
	int64_t at = 0;

	for (int64_t rank = 0; rank < in->ranks; rank++) {
		memset(w->stream_next, 0, (size_t)in->streams * sizeof(*w->stream_next));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++) {
			uint32_t shape = in->shape[call];
			int64_t *next;

			if (!(in->role[shape] & SKELGEN_MATCH_COLLECTIVE))
				continue;
			next = &w->stream_next[in->stream[shape]];
			if (++*next > w->stream_first[in->stream[shape]])
				w->stream_first[in->stream[shape]] = *next;
		}
	}
	for (int64_t stream = 0; stream < in->streams; stream++) {
		int64_t length = w->stream_first[stream];

		w->stream_first[stream] = at;
		at += length;
	}
}

static int allocate(struct work *w, const struct skelgen_match_counts *counts)
{
	const struct skelgen_match_input *in = w->in;
	size_t receives = (size_t)counts->receives + 1, requests = (size_t)counts->requests + 1;

	w->requests = counts->requests;
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

static int read_calls(struct work *w)
{
	const struct skelgen_match_input *in = w->in;

	for (int64_t rank = 0; rank < in->ranks; rank++) {
		begin_rank(w, rank, (uint32_t)(2 * rank + 1));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++)
			if (in->role[in->shape[call]] && read_receives(w, call))
				return -1;
	}
	for (int64_t rank = 0; rank < in->ranks; rank++) {
		begin_rank(w, rank, (uint32_t)(2 * rank + 2));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++)
			if (in->role[in->shape[call]] && read_sends(w, call))
				return -1;
	}
	for (int64_t entry = 0; entry < w->entries; entry++)
		if (w->entry_call[entry] >= 0)
			w->out->lonely[w->entry_call[entry]] = 1;
	return 0;
}

int skelgen_match(const struct skelgen_match_input *in, const struct skelgen_match_counts *counts,
		  struct skelgen_match_output *out)
{
	struct work w = {.in = in, .out = out};
	int64_t calls = in->first[in->ranks];
	int status = allocate(&w, counts);

	out->messages = 0;
	memset(out->group, -1, (size_t)calls * sizeof(*out->group));
	if (out->collective_done)
		memset(out->collective_done, -1, (size_t)calls * sizeof(*out->collective_done));
	memset(out->lonely, 0, (size_t)calls);
	if (!status) {
		lay_out_streams(&w);
		status = read_calls(&w);
	}
	number_groups(out, calls);
	release(&w);
	return status;
}
