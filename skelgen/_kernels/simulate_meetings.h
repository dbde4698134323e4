/*
 * Collectives: who arrives waits until all have; a part of simulate.c.
 */
static int32_t new_meeting(struct simulation *sim)
{
	int32_t found;

	if (sim->meetings == sim->meeting_room &&
	    grow((void **)&sim->meeting, &sim->meeting_room, sizeof(*sim->meeting))) {
		sim->broken = 1;
		return NOBODY;
	}
	found = (int32_t)sim->meetings++;
	sim->meeting[found] = (struct meeting){-1, 0, 0, 0, NOBODY, NOBODY, NOBODY};
	return found;
}

static int32_t next_meeting(struct simulation *sim, int32_t stream, int32_t member)
{
	int32_t last = sim->member_last[member];
	int32_t found = last == NOBODY ? sim->stream_first[stream] : sim->meeting[last].next;

	if (found == NOBODY) {
		found = new_meeting(sim);
		if (found == NOBODY)
			return found;
		if (last == NOBODY)
			sim->stream_first[stream] = found;
		else
			sim->meeting[last].next = found;
	}
	sim->member_last[member] = found;
	return found;
}

/* What the next start of a persistent collective leads to. */
static int32_t next_start(struct simulation *sim, int64_t request)
{
	int32_t last = sim->request_meeting[request];
	int32_t found;

	if (last == NOBODY)
		return NOBODY; /* there was no memory for its creation */
	found = sim->meeting[last].following;
	if (found == NOBODY) {
		found = new_meeting(sim);
		if (found != NOBODY)
			sim->meeting[last].following = found;
	}
	if (found != NOBODY)
		sim->request_meeting[request] = found;
	return found;
}

static void attend(struct simulation *sim, int32_t found, int32_t row, int32_t rank,
		   int64_t request, int64_t bytes)
{
	const struct skelgen_script *script = sim->script;
	int32_t item = new_item(sim, rank, request, bytes);
	struct meeting *meeting;

	if (found == NOBODY || item == NOBODY)
		return;
	meeting = &sim->meeting[found];
	if (meeting->arrived++ == 0) {
		meeting->fit = script->fit[row];
		meeting->bytes = bytes;
	} else if (meeting->fit != script->fit[row] || meeting->bytes != bytes) {
		sim->outcome->mismatched += !meeting->odd;
		meeting->odd = 1;
	}
	sim->item[item].next = meeting->waiting;
	meeting->waiting = item;
	if (meeting->arrived < script->stream_size[script->stream[row]])
		return;
	while (sim->meeting[found].waiting != NOBODY) {
		struct queue waiting = {sim->meeting[found].waiting, NOBODY};
		struct item one = pop(sim, &waiting);

		sim->meeting[found].waiting = waiting.head;
		complete(sim, one.rank, one.request);
	}
}
