/*
 * The other half of each message: the sends of a channel take its receives in the order of
 * posting; a part of halves.c.
 */

/* Halves of one channel that wait for others: all sends, or all receives. */
struct channel {
	uint32_t next; /* as the pool wants it */
	uint32_t head;
	uint32_t tail;
	int32_t role;
};

struct lonely {
	uint32_t next;
	int32_t stream;
	int64_t ordinal;
};

struct skelgen_waiting {
	struct table channels;
	struct pool channel_rows;
	struct pool halves;
};

struct skelgen_waiting *skelgen_waiting_new(void)
{
	struct skelgen_waiting *waiting = calloc(1, sizeof(*waiting));

	if (waiting) {
		waiting->channel_rows = (struct pool){.width = sizeof(struct channel)};
		waiting->halves = (struct pool){.width = sizeof(struct lonely)};
		waiting->channel_rows.free = waiting->halves.free = NO_ROW;
	}
	return waiting;
}

void skelgen_waiting_free(struct skelgen_waiting *waiting)
{
	if (waiting) {
		free(waiting->channels.entries);
		free(waiting->channel_rows.rows);
		free(waiting->halves.rows);
	}
	free(waiting);
}

int64_t skelgen_waiting_count(const struct skelgen_waiting *waiting)
{
	return waiting->halves.held;
}

/* What is kept of a half; NULL when there is no room, or nothing to keep. */
static struct skelgen_half_record *record_of(const struct skelgen_half_records *records,
					     int64_t stream_count, int64_t stream, int64_t ordinal)
{
	if (stream < 0 || stream >= stream_count || ordinal < 0 || ordinal >= records[stream].count)
		return NULL;
	return &records[stream].rows[ordinal];
}

static void note_other(struct skelgen_match_halves *m, int64_t stream, int64_t ordinal,
		       int64_t other_stream, int64_t other_ordinal)
{
	struct skelgen_half_record *record =
		record_of(m->records, m->stream_count, stream, ordinal);

	if (record) {
		record->stream = other_stream + 1;
		record->ordinal = other_ordinal;
	}
}

/* Let a half wait at the end of its channel's list. */
static int wait_there(struct skelgen_waiting *w, struct channel *channel, const struct half *half)
{
	uint32_t row = take_row(&w->halves);
	struct lonely *lonely;

	if (row == NO_ROW)
		return -1;
	lonely = row_of(&w->halves, row);
	lonely->stream = half->stream;
	lonely->ordinal = half->ordinal;
	if (channel->head == NO_ROW)
		channel->head = row;
	else
		link_row(&w->halves, channel->tail, row);
	channel->tail = row;
	return 0;
}

static int new_channel(struct skelgen_waiting *w, uint64_t first, uint64_t second,
		       const struct half *half)
{
	uint32_t row = take_row(&w->channel_rows);
	struct channel *channel;

	if (row == NO_ROW)
		return -1;
	channel = row_of(&w->channel_rows, row);
	channel->head = channel->tail = NO_ROW;
	channel->role = half->role;
	if (put_entry(&w->channels, first, second, row))
		return -1;
	return wait_there(w, channel, half);
}

/* Pair a half with the first one that waits for it, or let it wait. */
static int match_half(struct skelgen_match_halves *m, const struct half *half)
{
	struct skelgen_waiting *w = m->waiting;
	int32_t communicator = m->calls[half->call].communicator, own = m->rank[half->stream];
	int sends = half->role == SKELGEN_ROLE_SEND;
	uint32_t source = (uint32_t)(sends ? own : half->partner);
	uint32_t destination = (uint32_t)(sends ? half->partner : own);
	uint64_t first, second = (uint64_t)source << 32 | destination;
	struct lonely *lonely;
	struct channel *channel;
	struct entry *entry;
	uint32_t row;

	communicator = communicator < 0 ? -1 : m->canonical[communicator];
	first = (uint64_t)(uint32_t)communicator << 32 | (uint32_t)half->tag;
	entry = find_entry(&w->channels, first, second);
	if (!entry)
		return new_channel(w, first, second, half);
	channel = row_of(&w->channel_rows, entry->row - 1);
	if (channel->role == half->role)
		return wait_there(w, channel, half);
	row = channel->head;
	lonely = row_of(&w->halves, row);
	channel->head = next_row(&w->halves, row);
	if (channel->head == NO_ROW) {
		give_row(&w->channel_rows, entry->row - 1);
		take_entry(&w->channels, entry);
	}
	m->pairs++;
	note_other(m, half->stream, half->ordinal, lonely->stream, lonely->ordinal);
	note_other(m, lonely->stream, lonely->ordinal, half->stream, half->ordinal);
	give_row(&w->halves, row);
	return 0;
}

static int take_post(struct skelgen_match_halves *m, const struct half *half)
{
	struct skelgen_half_record *record =
		record_of(m->records, m->stream_count, half->stream, half->ordinal);

	if (half->role > SKELGEN_ROLE_RECEIVE || !record)
		return 0;
	*record = (struct skelgen_half_record){.size_bytes = half->size_bytes,
					       .begin_ns = half->begin_ns};
	/* What goes to ranks without a file would wait for ever. */
	if (half->partner >= 0 && half->partner < m->rank_count && m->present[half->partner])
		return match_half(m, half);
	m->alone++;
	return 0;
}

/* Take the halves of a batch; there is room for their records. */
int skelgen_match_halves(struct skelgen_match_halves *m, const struct skelgen_follow *batch)
{
	for (int64_t i = 0; i < batch->post_count; i++) {
		const struct half half = half_at(&batch->posts, i);

		if (take_post(m, &half))
			return SKELGEN_HALVES_NO_MEMORY;
	}
	for (int64_t i = 0; i < batch->end_count; i++) {
		int64_t leave_ns = batch->events.leave_ns[batch->ends.event[i]];
		struct skelgen_half_record *record = record_of(
			m->records, m->stream_count, batch->ends.stream[i], batch->ends.ordinal[i]);

		if (record && leave_ns)
			record->end_ns = leave_ns;
	}
	return SKELGEN_HALVES_DONE;
}

/* Look up the other half of each. */
void skelgen_other_halves(const struct skelgen_half_records *records, int64_t stream_count,
			  const int32_t *stream, const int64_t *ordinal, int64_t count,
			  struct skelgen_others *found)
{
	for (int64_t i = 0; i < count; i++) {
		const struct skelgen_half_record *own =
			record_of(records, stream_count, stream[i], ordinal[i]);
		const struct skelgen_half_record *other = NULL;

		if (own && own->stream)
			other = record_of(records, stream_count, own->stream - 1, own->ordinal);
		found->stream[i] = other ? own->stream - 1 : -1;
		found->ordinal[i] = other ? own->ordinal : -1;
		found->size_bytes[i] = other ? other->size_bytes : 0;
		found->begin_ns[i] = other ? other->begin_ns : 0;
		found->end_ns[i] = other ? other->end_ns : 0;
	}
}
