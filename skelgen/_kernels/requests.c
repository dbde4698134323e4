/* SPDX-License-Identifier: BSD-3-Clause */
#include "requests.h"
#include <stdbool.h>
#include <string.h>
#include "../../pmpi_shim/skelgen_record.h"

/* The elements of one reference: one number, or a list. */
struct elements {
	const int64_t *values;
	int64_t count;
	int64_t single;
};

static uint32_t hash(const int64_t *values, int64_t count, int64_t bits)
{
	uint64_t code = (uint64_t)count;

	for (int64_t i = 0; i < count; i++)
		code = (code ^ (code >> 29) ^ (uint64_t)values[i]) * 0x9e3779b97f4a7c15u;
	code = (code ^ (code >> 32)) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(code >> (64 - bits));
}

static bool same(const struct skelgen_requests *r, uint32_t row, const int64_t *values,
		 int64_t count)
{
	int64_t first = r->row_first[row];

	return r->row_first[row + 1] - first == count &&
	       !memcmp(r->values + first, values, (size_t)count * sizeof(*values));
}

/* The slot of a row of ages: its own, or a free one. There is always a free one. */
static uint32_t *slot_of(const struct skelgen_requests *r, const int64_t *values, int64_t count)
{
	uint32_t mask = (uint32_t)(((uint64_t)1 << r->slot_bits) - 1);
	uint32_t slot = hash(values, count, r->slot_bits);

	while (r->slots[slot] && !same(r, r->slots[slot], values, count))
		slot = (slot + 1) & mask;
	return &r->slots[slot];
}

/* Fill the slots anew after the caller enlarged and zeroed them. */
void skelgen_requests_rehash(struct skelgen_requests *r)
{
	for (int64_t row = 1; row < r->row_count; row++) {
		int64_t first = r->row_first[row];

		*slot_of(r, r->values + first, r->row_first[row + 1] - first) = (uint32_t)row;
	}
}

/* Number a row of ages; there is room for it. */
static uint32_t number_row(struct skelgen_requests *r, const int64_t *values, int64_t count)
{
	uint32_t *slot;

	if (!count)
		return 0;
	slot = slot_of(r, values, count);
	if (!*slot) {
		memcpy(r->values + r->value_count, values, (size_t)count * sizeof(*values));
		r->value_count += count;
		*slot = (uint32_t)r->row_count++;
		r->row_first[r->row_count] = r->value_count;
	}
	return *slot;
}

static struct elements elements_of(const struct skelgen_request_stream *stream, uint32_t reference)
{
	struct elements elements = {.single = reference >> 2};
	int64_t id = reference >> 2;

	switch (reference & 3) {
	case SKELGEN_REF_AGE:
		elements.count = 1;
		break;
	case SKELGEN_REF_PERSISTENT:
		elements.single = -elements.single;
		elements.count = 1;
		break;
	case SKELGEN_REF_LIST:
		if (id < 1 || id > stream->list_count)
			break;
		elements.values = stream->list_values + stream->list_first[id - 1];
		elements.count = stream->list_first[id] - stream->list_first[id - 1];
		break;
	}
	return elements;
}

static const struct skelgen_request missing = {.number = -1};

/* The place of a request among the early ones that are still open, NULL: it is complete. */
static struct skelgen_request *early(struct skelgen_request_stream *stream, int64_t number)
{
	int64_t low = 0, high = stream->early_count;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (stream->early[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < stream->early_count && stream->early[low].number == number)
		return &stream->early[low];
	return NULL;
}

/* The request with this number; `missing` when there is none (any more). */
static struct skelgen_request take(struct skelgen_request_stream *stream, int64_t number, bool ends)
{
	struct skelgen_request *request;

	if (number < 1 || number > stream->made)
		return missing;
	if (number > stream->before)
		request = &stream->recent[number - 1 - stream->before];
	else
		request = early(stream, number);
	if (!request || !request->open)
		return missing;
	if (ends)
		request->open = 0;
	return *request;
}

/* Keep those of the requests that are open; return how many. */
static int64_t keep_open(struct skelgen_request *to, const struct skelgen_request *from,
			 int64_t count)
{
	int64_t kept = 0;

	for (int64_t i = 0; i < count; i++)
		if (from[i].open)
			to[kept++] = from[i];
	return kept;
}

/* Make room for more requests among the recent ones; false: the tables must grow. */
static bool has_room(struct skelgen_request_stream *stream, int64_t more)
{
	int64_t held = stream->made - stream->before, half = held / 2, open = 0;

	if (held + more <= stream->capacity)
		return true;
	if (held - half + more > stream->capacity)
		return false;
	stream->early_count = keep_open(stream->early, stream->early, stream->early_count);
	for (int64_t i = 0; i < half; i++)
		open += stream->recent[i].open;
	if (stream->early_count + open > stream->capacity / 2)
		return false;
	stream->early_count += keep_open(stream->early + stream->early_count, stream->recent, half);
	memmove(stream->recent, stream->recent + half,
		(size_t)(held - half) * sizeof(*stream->recent));
	stream->before += half;
	return true;
}

static void make(struct skelgen_request_stream *stream, struct skelgen_request request)
{
	request.number = ++stream->made;
	request.open = 1;
	stream->recent[stream->made - 1 - stream->before] = request;
}

static struct skelgen_request resolve(struct skelgen_request_stream *stream, int64_t element,
				      int64_t made, unsigned action)
{
	if (element > 0)
		return take(stream, made - element + 1, action & SKELGEN_ACTION_ENDS);
	if (element == 0 || -element > stream->persistent_made)
		return missing;
	if (action & SKELGEN_ACTION_STARTS)
		make(stream, stream->persistent[-element - 1]);
	return stream->persistent[-element - 1];
}

/* Tell the statuses of this event which call created their request. */
static void resolve_statuses(struct skelgen_requests *r, const struct skelgen_request *named,
			     int64_t count)
{
	for (; r->status_next < r->status_count; r->status_next++) {
		struct skelgen_request_status *status = &r->statuses[r->status_next];

		if (status->event > r->event)
			break;
		status->creator = -1;
		if (status->event < r->event || status->position >= count ||
		    named[status->position].number < 0)
			continue;
		status->creator = named[status->position].creator;
		status->shape = named[status->position].shape;
		status->size_bytes = named[status->position].size_bytes;
	}
}

static int64_t foreign_here(const struct skelgen_requests *r)
{
	int64_t count = 0;

	while (r->foreign_next + count < r->foreign_count &&
	       r->foreign[r->foreign_next + count].event == r->event)
		count++;
	return count;
}

static int room_for(struct skelgen_requests *r, struct skelgen_request_stream *stream,
		    int64_t count, unsigned action)
{
	int64_t made = (action & SKELGEN_ACTION_CREATES ? 1 : 0) +
		       (action & SKELGEN_ACTION_STARTS ? count : 0);

	if (r->row_first && r->row_count + 1 >= r->row_capacity)
		return SKELGEN_REQUESTS_GROW_ROWS;
	if (r->row_first && r->value_count + count > r->value_capacity)
		return SKELGEN_REQUESTS_GROW_VALUES;
	if (count > r->scratch_capacity)
		return SKELGEN_REQUESTS_GROW_SCRATCH;
	if (made && !has_room(stream, made)) {
		r->growing = stream - r->streams;
		return SKELGEN_REQUESTS_GROW_OPEN;
	}
	return SKELGEN_REQUESTS_DONE;
}

/* Age of a request among those of its sort, negative for persistent ones. */
static int64_t age_of(const struct skelgen_requests *r, int64_t birth)
{
	return birth < 0 ? -(r->lasting + birth + 1) : r->created - r->lasting - birth + 1;
}

static void count_start(struct skelgen_requests *r, const struct skelgen_request *request)
{
	r->started_count[request->shape]++;
	r->started_bytes[request->shape] += request->size_bytes;
}

/* Turn one event's reference into a row of ages; its requests come to stand in `scratch`. */
static void follow(struct skelgen_requests *r, struct skelgen_request_stream *stream,
		   const struct elements *elements, int64_t foreign, unsigned action)
{
	int64_t made = stream->made, kept = 0, count = elements->count;
	struct skelgen_request *named = r->scratch;

	for (int64_t i = 0; i < count; i++) {
		int64_t element = elements->values ? elements->values[i] : elements->single;

		named[i] = resolve(stream, element, made, action);
	}
	resolve_statuses(r, named, count);
	for (int64_t i = 0; i < foreign; i++) {
		const struct skelgen_foreign_request *other = &r->foreign[r->foreign_next++];

		named[count++] = other->stream < 0 ? missing
						   : take(&r->streams[other->stream], other->number,
							  action & SKELGEN_ACTION_ENDS);
	}
	for (int64_t i = 0; i < count; i++) {
		r->dropped += named[i].number < 0;
		if (named[i].number < 0 || named[i].creator < 0)
			continue;
		r->ages[kept++] = age_of(r, named[i].birth);
		if (action & SKELGEN_ACTION_COUNTED)
			count_start(r, &named[i]);
	}
	r->elements += count;
	r->reference[r->event] = r->row_first ? number_row(r, r->ages, kept) : 0;
}

static void create(struct skelgen_requests *r, struct skelgen_request_stream *stream,
		   unsigned action)
{
	struct skelgen_request request = {.creator = -1};

	if (action & SKELGEN_ACTION_NEW) {
		r->created++;
		request.creator = r->before + r->event;
		request.birth =
			action & SKELGEN_ACTION_LASTING ? -++r->lasting : r->created - r->lasting;
		request.shape = r->shape ? r->shape[r->event] : 0;
		request.size_bytes = r->size_bytes ? r->size_bytes[r->event] : 0;
	}
	if (action & SKELGEN_ACTION_CREATES)
		make(stream, request);
	if (action & SKELGEN_ACTION_PERSISTENT &&
	    stream->persistent_made < stream->persistent_capacity)
		stream->persistent[stream->persistent_made++] = request;
}

/* Go through the events until they end or a table is full. */
int skelgen_requests(struct skelgen_requests *r)
{
	for (; r->event < r->event_count; r->event++) {
		unsigned action = r->action[r->variant[r->event]];
		uint32_t reference = r->reference[r->event];
		int64_t foreign = foreign_here(r);
		struct skelgen_request_stream *stream;
		struct elements elements;
		int stop;

		if (!action && !reference && !foreign)
			continue;
		stream = &r->streams[r->stream ? r->stream[r->event] : 0];
		elements = elements_of(stream, reference);
		if (r->elements > r->element_limit)
			return SKELGEN_REQUESTS_EXCESS;
		stop = room_for(r, stream, elements.count + foreign, action);
		if (stop)
			return stop;
		if (elements.count || foreign)
			follow(r, stream, &elements, foreign, action);
		else
			r->reference[r->event] = 0;
		create(r, stream, action);
	}
	return SKELGEN_REQUESTS_DONE;
}
