/*
 * Messages: sends of a channel take its receives in posting order; a part of match.c.
 */
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
	w->entry_call[entry] = (skelgen_call)call;
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
	out->send_call[message] = (skelgen_call)call;
	out->receive_call[message] = w->entry_call[entry];
	if (out->receive_done) {
		out->send_done[message] = -1;
		out->receive_done[message] = w->entry_done[entry];
	}
	out->message_bytes[message] = w->in->size_bytes[bytes_call];
	join(out->whole_event, call, w->entry_call[entry]);
	w->entry_call[entry] = -1;
	return message;
}
