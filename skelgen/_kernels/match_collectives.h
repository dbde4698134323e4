/*
 * Collectives: the n-th call of each participant belongs together; a part of match.c.
 */
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
		instance->first_call = (skelgen_call)call;
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
		if ((skelgen_call)w->instance_count != w->instance_count)
			return -2;
		if (w->instance_count == w->instance_room) {
			larger = realloc(w->instances,
					 2 * (size_t)w->instance_room * sizeof(*larger));
			if (!larger)
				return -2;
			w->instances = larger;
			w->instance_room *= 2;
		}
		w->instances[w->instance_count] = (struct instance){0};
		w->instances[last].next = (skelgen_call)w->instance_count++;
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
		w->instances[at].first_call = (skelgen_call)call;
	w->active[number] = -2 - call;
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
		w->out->whole_event[call] = w->instances[at].first_call;
	else
		w->out->lonely[call] = 1;
	return at;
}

static void join_start(struct work *w, int64_t call, int64_t number, uint32_t shape)
{
	int64_t at = instance_of_start(w, number);

	if (whole(w, at, shape))
		join(w->out->whole_event, call, w->instances[at].first_call);
	else
		w->out->lonely[call] = 1;
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
