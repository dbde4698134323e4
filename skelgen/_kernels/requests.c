/* SPDX-License-Identifier: BSD-3-Clause */
#include "requests.h"
#include <stdbool.h>
#include <string.h>
#include "../../pmpi_shim/skelgen_record.h"

#define MISSING (-1)

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

/*
 * The serial of the request with this number; 0: its creation does not count, MISSING: there is
 * none (any more).
 */
static int64_t serial_of(struct skelgen_request_stream *stream, int64_t number, bool ends)
{
	int32_t *owner;
	int64_t serial;

	if (number < 1 || number > stream->made)
		return MISSING;
	owner = &stream->owner[number - 1];
	serial = *owner;
	if (serial >= 0 && ends)
		*owner = serial ? (int32_t)-serial : MISSING;
	return serial < 0 ? MISSING : serial;
}

static int64_t resolve(struct skelgen_request_stream *stream, int64_t element, int64_t made,
		       unsigned action)
{
	int64_t serial;

	if (element > 0)
		return serial_of(stream, made - element + 1, action & SKELGEN_ACTION_ENDS);
	if (element == 0 || -element > stream->persistent_made)
		return MISSING;
	serial = stream->persistent[-element - 1];
	if (action & SKELGEN_ACTION_STARTS)
		stream->owner[stream->made++] = (int32_t)serial;
	return serial;
}

/* Tell the statuses of this event which call created their request. */
static void resolve_statuses(struct skelgen_requests *r, const int64_t *serials, int64_t count)
{
	for (; r->status_next < r->status_count; r->status_next++) {
		struct skelgen_request_status *status = &r->statuses[r->status_next];

		if (status->event > r->event)
			break;
		status->creator = -1;
		if (status->event == r->event && status->position < count &&
		    serials[status->position] > 0)
			status->creator = r->creator[serials[status->position] - 1];
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
		    int64_t count)
{
	if (r->row_count + 1 >= r->row_capacity)
		return SKELGEN_REQUESTS_GROW_ROWS;
	if (r->value_count + count > r->value_capacity)
		return SKELGEN_REQUESTS_GROW_VALUES;
	if (count > r->scratch_capacity)
		return SKELGEN_REQUESTS_GROW_SCRATCH;
	if (stream->made + count + 1 > stream->owner_capacity) {
		r->growing = stream - r->streams;
		return SKELGEN_REQUESTS_GROW_OWNERS;
	}
	return SKELGEN_REQUESTS_DONE;
}

/* Age of a request among those of its sort, negative for persistent ones. */
static int64_t age_of(const struct skelgen_requests *r, int64_t serial)
{
	int64_t birth = r->birth[serial - 1];

	return birth < 0 ? -(r->lasting + birth + 1) : r->created - r->lasting - birth + 1;
}

/* Turn one event's reference into a row of ages. */
static void follow(struct skelgen_requests *r, struct skelgen_request_stream *stream,
		   const struct elements *elements, int64_t foreign, unsigned action)
{
	int64_t made = stream->made, kept = 0, count = elements->count;
	int64_t *serials = r->scratch;

	for (int64_t i = 0; i < count; i++) {
		int64_t element = elements->values ? elements->values[i] : elements->single;

		serials[i] = resolve(stream, element, made, action);
	}
	resolve_statuses(r, serials, count);
	for (int64_t i = 0; i < foreign; i++) {
		const struct skelgen_foreign_request *other = &r->foreign[r->foreign_next++];

		serials[count++] = other->stream < 0
					   ? MISSING
					   : serial_of(&r->streams[other->stream], other->number,
						       action & SKELGEN_ACTION_ENDS);
	}
	for (int64_t i = 0; i < count; i++) {
		r->dropped += serials[i] == MISSING;
		if (serials[i] > 0)
			serials[kept++] = age_of(r, serials[i]);
	}
	r->elements += count;
	r->reference[r->event] = number_row(r, serials, kept);
}

static void create(struct skelgen_requests *r, struct skelgen_request_stream *stream,
		   unsigned action)
{
	int32_t serial = 0;

	if (action & SKELGEN_ACTION_NEW && r->created < r->creator_capacity) {
		r->creator[r->created] = (uint32_t)r->event;
		serial = (int32_t)++r->created;
		if (action & SKELGEN_ACTION_LASTING)
			r->birth[serial - 1] = -(int32_t)++r->lasting;
		else
			r->birth[serial - 1] = serial - (int32_t)r->lasting;
	}
	if (action & SKELGEN_ACTION_CREATES)
		stream->owner[stream->made++] = serial;
	if (action & SKELGEN_ACTION_PERSISTENT &&
	    stream->persistent_made < stream->persistent_capacity)
		stream->persistent[stream->persistent_made++] = serial;
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
		stop = room_for(r, stream, elements.count + foreign);
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
