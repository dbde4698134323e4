/*
 * What wildcards received: it is known where a receive completes, and needed where it is posted; a
 * part of halves.c.
 */
#define SOURCE_SHIFT 16

/* Put what a wildcard received in the place of the wildcard. */
static void resolve(const struct skelgen_follow *f, const struct skelgen_half_thread *thread,
		    struct half *half)
{
	const struct skelgen_half_call *call = &f->calls[half->call];
	const struct skelgen_half_source *found = NULL;

	if (half->request < thread->source_count)
		found = &thread->sources[half->request];
	if (!found || !found->source) {
		half->peer = half->partner = -1;
	} else if (found->source - SOURCE_SHIFT == SKELGEN_CANCELLED) {
		half->peer = SKELGEN_PROC_NULL;
		half->partner = -1;
	} else {
		if (call->wild_source)
			half->peer = found->source - SOURCE_SHIFT;
		half->partner = partner_of(f, call->communicator, half->peer);
		half->tag = found->tag;
	}
}

/*
 * Note what the wildcards of a block received: it is known only where a receive completes, later
 * than where it is posted. Returns how many sources there must be room for to go on, 0 at the end.
 */
int64_t skelgen_find_sources(struct skelgen_half_thread *thread,
			     const struct skelgen_half_call *calls)
{
	for (; thread->event < thread->event_count; thread->event++) {
		int64_t i = thread->event;
		const struct elements elements = elements_of(thread, thread->reference[i]);
		uint8_t action = calls[thread->variants[thread->variant[i]].call].action;

		for (; thread->status_next < thread->status_count &&
		       thread->statuses[thread->status_next].event <= i;
		     thread->status_next++) {
			const struct skelgen_half_status *status =
				&thread->statuses[thread->status_next];
			int64_t age = 0, number;

			if (status->position >= 0 && status->position < elements.count)
				age = element(&elements, status->position);
			number = thread->made - age + 1;
			if (age < 1 || number < 1 || status->source > INT32_MAX - SOURCE_SHIFT)
				continue;
			if (number >= thread->source_count)
				return number + 1;
			thread->sources[number].source = status->source + SOURCE_SHIFT;
			thread->sources[number].tag = status->tag < -1 ? -1 : status->tag;
		}
		if (action == SKELGEN_HALVES_CREATES)
			thread->made++;
		else if (action == SKELGEN_HALVES_STARTS)
			thread->made += elements.count;
	}
	return 0;
}
