/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode.h"
#include <stdbool.h>
#include <string.h>
#include "cursor.h"
#include "places.h"
#include "../../pmpi_shim/crc.h"
#include "../../pmpi_shim/skelgen_record.h"

#include "decode_event.h"

_Static_assert(SKELGEN_PREDICTIONS == 4096, "struct skelgen_stream has the table");

/* Find the slot of a variant: its own, or a free one. There is always a free one. */
static uint32_t *slot_of(const struct skelgen_stream *stream, const struct skelgen_variant *wanted)
{
	uint64_t code = places_mix(wanted->shape, (uint32_t)wanted->peer);
	struct places places;

	code = places_mix(code, (uint32_t)wanted->peer2);
	code = places_mix(code, (uint32_t)wanted->tag2);
	places = places_begin(code, (uint32_t)wanted->tag, stream->slot_bits);
	while (stream->slots[places.slot]) {
		uint32_t row = stream->slots[places.slot] - 1;

		if (!memcmp(&stream->variants[row], wanted, sizeof(*wanted)))
			break;
		places_next(&places);
	}
	return &stream->slots[places.slot];
}

/* Fill the slots anew after the caller enlarged and zeroed them. */
void skelgen_decode_rehash(struct skelgen_stream *stream)
{
	for (int64_t i = 0; i < stream->variant_count; i++)
		*slot_of(stream, &stream->variants[i]) = (uint32_t)i + 1;
}

/* Number the event's values; false when the table is full. */
static bool number_variant(struct skelgen_stream *stream, const struct event *event,
			   uint32_t amid_work, uint32_t *variant)
{
	struct skelgen_variant wanted = {
		.shape = (uint32_t)(event->shape - stream->shapes),
		.peer = event->peer,
		.tag = event->tag,
		.peer2 = event->peer2,
		.tag2 = event->tag2,
		.amid_work = amid_work,
	};
	uint32_t *slot, latest = event->shape->variant;

	if (latest && !(event->extras & SKELGEN_EXTRA_VALUES) &&
	    stream->variants[latest - 1].amid_work == amid_work) {
		*variant = latest - 1;
		return true;
	}
	if (stream->variant_count == stream->variant_capacity)
		return false;
	slot = slot_of(stream, &wanted);
	if (!*slot) {
		stream->variants[stream->variant_count++] = wanted;
		*slot = (uint32_t)stream->variant_count;
	}
	*variant = *slot - 1;
	return true;
}

static bool has_vectors(const struct event *event)
{
	return event->shape->flags & (SKELGEN_SHAPE_VECTOR_A | SKELGEN_SHAPE_VECTOR_B);
}

static int64_t size_of(struct skelgen_stream *stream, const struct event *event)
{
	const struct skelgen_call_shape *shape = event->shape;
	int64_t count = event->count_a, bytes = shape->bytes_a;
	uint32_t rule = shape->rule;

	if (rule == SKELGEN_RULE_ROOT_A)
		rule = event->peer == shape->own || event->peer == SKELGEN_ROOT ? SKELGEN_RULE_A
										: SKELGEN_RULE_B;
	if (rule == SKELGEN_RULE_NONE)
		return 0;
	if (rule == SKELGEN_RULE_POLLS)
		return event->polls;
	if (rule == SKELGEN_RULE_B) {
		count = event->count_b;
		bytes = shape->bytes_b;
	}
	if (count < 0 || (bytes > 0 && count > LARGEST_SIZE / bytes)) {
		stream->implausible_count++;
		return count < 0 ? 0 : LARGEST_SIZE;
	}
	return count * bytes;
}

/* The requests that the recorder had to look up or to note. */
static int64_t handled(const struct event *event)
{
	uint32_t flags = event->shape->flags;

	if (flags & (SKELGEN_SHAPE_CREATES | SKELGEN_SHAPE_PERSISTENT))
		return 1;
	if (!(flags & (SKELGEN_SHAPE_STARTS | SKELGEN_SHAPE_COMPLETES)) || event->count_a < 0)
		return 0;
	return event->count_a < MOST_HANDLED ? event->count_a : MOST_HANDLED;
}

/* What recording a call took, or polls with work between them [ns]. */
static int64_t recording_ns(const struct skelgen_stream *stream, int64_t polls)
{
	return stream->cost_ns > LATEST_UNITS / polls ? LATEST_UNITS : stream->cost_ns * polls;
}

/* What a rank worked between polls is computation before them. */
static void store_event(struct skelgen_stream *stream, const struct event *event, int64_t work,
			uint32_t variant)
{
	int64_t row = stream->event_count;
	int64_t begin = stream->time_units + event->gap;
	int64_t compute = event->gap - event->overhead;

	compute = nanoseconds(stream, work + (compute > 0 ? compute : 0)) -
		  recording_ns(stream, work ? event->polls : 1) -
		  (stream->handled * stream->request_cost_ps + 500) / 1000;
	stream->variant[row] = variant;
	stream->reference[row] = event->reference;
	stream->size_bytes[row] = size_of(stream, event);
	stream->enter_ns[row] = stream->origin_ns + nanoseconds(stream, begin + work);
	stream->leave_ns[row] = stream->origin_ns + nanoseconds(stream, begin + event->duration);
	stream->compute_ns[row] = compute > 0 ? compute : 0;
	if (has_vectors(event)) {
		struct skelgen_vectors *vectors = &stream->vectors[stream->vector_count];

		vectors->event = row;
		vectors->vector_a = event->vector_a;
		vectors->vector_b = event->vector_b;
	}
}

static void store_away(struct skelgen_stream *stream, const struct event *event)
{
	if (stream->away && event->told)
		stream->away[stream->away_count] = (struct skelgen_away){
			.event = stream->event_count,
			.queued_us = event->queued_us,
			.asleep_us = event->lost_us - event->queued_us,
		};
}

static void count_facts(struct skelgen_stream *stream, const struct event *event, int64_t work)
{
	uint32_t flags = event->shape->flags;
	int64_t overhead = event->overhead < event->gap ? event->overhead : event->gap;
	int64_t gap = event->gap - overhead;

	stream->request_count += (flags & SKELGEN_SHAPE_CREATES) != 0;
	stream->persistent_count += (flags & SKELGEN_SHAPE_PERSISTENT) != 0;
	stream->error_count += (flags & SKELGEN_SHAPE_FAILED) != 0;
	if (flags & SKELGEN_SHAPE_NOT_READY)
		stream->poll_count += event->polls;
	stream->handled_count += handled(event);
	stream->vector_count += has_vectors(event);
	stream->status_count += event->statuses;
	stream->foreign_count += event->foreign;
	stream->overhead_units += overhead;
	stream->compute_units += event->gap + work;
	if (nanoseconds(stream, gap) - event->lost_us * 1000 > SKELGEN_LONG_GAP_NS)
		stream->long_units += gap;
	stream->lost_us += event->lost_us;
	stream->away_count += event->told;
	if (event->told) {
		stream->told_us += event->lost_us;
		stream->queued_us += event->queued_us;
	}
}

/* The event's counts join the history; counts that were given may show another period. */
static void turn(const struct event *event)
{
	struct skelgen_call_shape *shape = event->shape;

	for (uint32_t back = 1; event->counts_given && back <= SKELGEN_COUNT_HISTORY; back++) {
		uint32_t i = (shape->newest + 1 - back) % SKELGEN_COUNT_HISTORY;

		if (shape->history_a[i] != event->count_a || shape->history_b[i] != event->count_b)
			continue;
		shape->lag = back;
		break;
	}
	shape->newest = (shape->newest + 1) % SKELGEN_COUNT_HISTORY;
	shape->history_a[shape->newest] = shape->count_a = event->count_a;
	shape->history_b[shape->newest] = shape->count_b = event->count_b;
}

static void advance(struct skelgen_stream *stream, const struct event *event)
{
	struct skelgen_call_shape *shape = event->shape;
	uint32_t id = (uint32_t)(shape - stream->shapes) + 1;

	stream->predicted[(31 * stream->before + stream->last) % SKELGEN_PREDICTIONS] = id;
	stream->long_predicted[stream->context >> 20] = id;
	stream->long_context[stream->context >> 20] = stream->context;
	stream->context =
		stream->context << SKELGEN_CONTEXT_SHIFT ^ id * (uint32_t)SKELGEN_CONTEXT_FACTOR;
	stream->before = stream->last;
	stream->last = id;
	turn(event);
	if (event->extras & (SKELGEN_EXTRA_VALUES | SKELGEN_EXTRA_VECTORS)) {
		shape->peer = event->peer;
		shape->tag = event->tag;
		shape->peer2 = event->peer2;
		shape->tag2 = event->tag2;
		shape->reference = event->reference;
		shape->vector_a = event->vector_a;
		shape->vector_b = event->vector_b;
	}
	stream->time_units += event->gap + event->duration;
	stream->handled = handled(event);
	stream->queue_told = 0;
	stream->event_count++;
}

static bool room_for(const struct skelgen_stream *stream, const struct event *event)
{
	return stream->event_count < stream->event_capacity &&
	       stream->vector_count + has_vectors(event) <= stream->vector_capacity &&
	       stream->status_count + event->statuses <= stream->status_capacity &&
	       stream->foreign_count + event->foreign <= stream->foreign_capacity &&
	       (!stream->away || stream->away_count + event->told <= stream->away_capacity);
}

static int take_event(struct skelgen_stream *stream, struct cursor *cursor, uint8_t tag)
{
	struct event event;
	uint32_t variant;
	int64_t work;

	if (!read_event(stream, cursor, tag, &event))
		return cursor->stop;
	work = work_amid(stream, &event);
	if (stream->variant) {
		if (!room_for(stream, &event))
			return SKELGEN_STOP_FULL;
		if (!number_variant(stream, &event, work > 0, &variant))
			return SKELGEN_STOP_GROW_VARIANTS;
		store_event(stream, &event, work, variant);
		store_away(stream, &event);
		event.shape->variant = variant + 1;
	}
	count_facts(stream, &event, work);
	advance(stream, &event);
	return 0;
}

static int take_shape(struct skelgen_stream *stream, struct cursor *cursor, int64_t offset)
{
	struct skelgen_call_shape *shape;
	uint64_t id = varint(cursor);

	if (cursor->stop)
		return cursor->stop;
	if (id != (uint64_t)stream->shape_count + 1 || id >= UINT32_MAX)
		return SKELGEN_STOP_ID;
	if (stream->shape_count == stream->shape_capacity)
		return SKELGEN_STOP_GROW_SHAPES;
	shape = &stream->shapes[id - 1];
	shape->offset = offset;
	shape->function = small(cursor);
	shape->flags = small(cursor);
	shape->comm = changed_small(cursor, 0);
	shape->peer = changed_small(cursor, 0);
	shape->tag = changed_small(cursor, 0);
	shape->peer2 = changed_small(cursor, 0);
	shape->tag2 = changed_small(cursor, 0);
	shape->op = small(cursor);
	shape->type_a = small(cursor);
	shape->type_b = small(cursor);
	shape->site = small(cursor);
	shape->reference = checked_reference(stream, cursor);
	shape->count_a = changed(cursor, 0, LARGEST_NUMBER);
	shape->count_b = changed(cursor, 0, LARGEST_NUMBER);
	shape->vector_a = checked_vector(stream, cursor);
	shape->vector_b = checked_vector(stream, cursor);
	shape->variant = 0;
	shape->lag = 1;
	for (int i = 0; i < SKELGEN_COUNT_HISTORY; i++) {
		shape->history_a[i] = shape->count_a;
		shape->history_b[i] = shape->count_b;
	}
	if (!cursor->stop)
		stream->shape_count++;
	return cursor->stop;
}

/* Lists and vectors are numbered from 1 without gaps, so that their ids can be checked. */
static int count_definition(struct cursor *cursor, int64_t *count)
{
	uint64_t id = varint(cursor);

	if (cursor->stop)
		return cursor->stop;
	if (id != (uint64_t)*count + 1 || id >= UINT32_MAX)
		return SKELGEN_STOP_ID;
	++*count;
	return 0;
}

/* It is about the event that follows. */
static int take_queued(struct skelgen_stream *stream, struct cursor *cursor)
{
	int64_t queued_us = (int64_t)at_most(cursor, UINT32_MAX);

	if (cursor->stop)
		return cursor->stop;
	stream->next_queued_us = queued_us;
	stream->queue_told = 1;
	return 0;
}

static int take_definition(struct skelgen_stream *stream, struct cursor *cursor, uint8_t tag)
{
	struct skelgen_definition definition = {.offset = stream->position, .tag = tag};
	uint64_t length = varint(cursor);
	struct cursor payload;
	int stop = 0;

	if (cursor->stop)
		return cursor->stop;
	if (length > (uint64_t)(cursor->end - cursor->at))
		return SKELGEN_STOP_SHORT;
	if (stream->definitions && stream->definition_count == stream->definition_capacity)
		return SKELGEN_STOP_GROW_DEFINITIONS;
	payload = (struct cursor){.at = cursor->at, .end = cursor->at + length};
	if (tag == SKELGEN_REC_SHAPE)
		stop = take_shape(stream, &payload, definition.offset);
	else if (tag == SKELGEN_REC_LIST)
		stop = count_definition(&payload, &stream->list_count);
	else if (tag == SKELGEN_REC_VECTOR)
		stop = count_definition(&payload, &stream->vector_definitions);
	else if (tag == SKELGEN_REC_QUEUED)
		stop = take_queued(stream, &payload);
	if (stop)
		return stop;
	definition.payload = cursor->at - stream->data;
	definition.length = (int64_t)length;
	cursor->at += length;
	if (stream->definitions && tag != SKELGEN_REC_SHAPE && tag != SKELGEN_REC_QUEUED)
		stream->definitions[stream->definition_count++] = definition;
	return tag == SKELGEN_REC_END ? SKELGEN_STOP_END : 0;
}

/*
 * Read records until the data ends, is damaged or a table is full; `position` is then
 * that of the first record that was not taken.
 */
int skelgen_decode(struct skelgen_stream *stream)
{
	struct cursor cursor = {.end = stream->data + stream->size};
	int stop = 0;

	while (!stop) {
		uint8_t tag;

		if (stream->position >= stream->size || !stream->data[stream->position])
			return SKELGEN_STOP_DATA;
		if (stream->position >= stream->pause)
			return SKELGEN_STOP_PAUSE;
		cursor.at = stream->data + stream->position;
		tag = *cursor.at++;
		if (tag & SKELGEN_REC_EVENT)
			stop = take_event(stream, &cursor, tag);
		else
			stop = take_definition(stream, &cursor, tag);
		if (!stop || stop == SKELGEN_STOP_END)
			stream->position = cursor.at - stream->data;
	}
	return stop;
}

#include "decode_files.h"

/* The CRC32C of bytes that follow those whose CRC32C is given, 0 for the first. */
uint32_t skelgen_checksum(uint32_t crc, const uint8_t *data, int64_t bytes)
{
	return skelgen_crc32c(crc, data, (size_t)bytes);
}
