/*
 * One event as it stands in the stream; a part of decode.c.
 */
#define KNOWN_EXTRAS 0x7f7
/* Sizes above this and times above that are damage, and sums stay below 2^63. */
#define LARGEST_SIZE ((int64_t)1 << 44)
#define LATEST_UNITS ((int64_t)1 << 61)
#define LARGEST_NUMBER ((int64_t)1 << 61)
#define MOST_HANDLED ((int64_t)1 << 20)

/* An event while it is read: nothing of it counts before all of it is there. */
struct event {
	struct skelgen_call_shape *shape;
	int64_t gap;
	int64_t duration;
	int64_t overhead;
	int64_t count_a;
	int64_t count_b;
	int64_t lost_us;
	int64_t queued_us; /* of these */
	int64_t polls;
	int64_t inside; /* of the duration, in polls */
	int64_t statuses;
	int64_t foreign;
	uint64_t extras;
	int32_t peer;
	int32_t tag;
	int32_t peer2;
	int32_t tag2;
	uint32_t reference;
	uint32_t vector_a;
	uint32_t vector_b;
	bool counts_given;
	bool told; /* what took the lost time */
};

/* A reference must fit the column, and its list must be defined. */
static uint32_t checked_reference(const struct skelgen_stream *stream, struct cursor *cursor)
{
	uint32_t reference = small(cursor);

	if ((reference & 3) == SKELGEN_REF_LIST && (int64_t)(reference >> 2) > stream->list_count)
		return (uint32_t)failed(cursor, SKELGEN_STOP_REFERENCE);
	return reference;
}

static uint32_t checked_vector(const struct skelgen_stream *stream, struct cursor *cursor)
{
	uint32_t vector = small(cursor);

	if ((int64_t)vector > stream->vector_definitions)
		return (uint32_t)failed(cursor, SKELGEN_STOP_REFERENCE);
	return vector;
}

static void read_values(const struct skelgen_stream *stream, struct cursor *cursor,
			struct event *event)
{
	uint32_t flags = event->shape->flags;

	if (flags & SKELGEN_SHAPE_VARIES_PEER)
		event->peer = changed_small(cursor, event->peer);
	if (flags & SKELGEN_SHAPE_VARIES_TAG)
		event->tag = changed_small(cursor, event->tag);
	if (flags & SKELGEN_SHAPE_VARIES_PEER2)
		event->peer2 = changed_small(cursor, event->peer2);
	if (flags & SKELGEN_SHAPE_VARIES_TAG2)
		event->tag2 = changed_small(cursor, event->tag2);
	if (flags & SKELGEN_SHAPE_VARIES_LIST)
		event->reference = checked_reference(stream, cursor);
}

static void read_statuses(const struct skelgen_stream *stream, struct cursor *cursor,
			  struct event *event)
{
	uint64_t count = varint(cursor);

	for (uint64_t i = 0; i < count && !cursor->stop; i++) {
		struct skelgen_status status = {.event = stream->event_count};
		int64_t row = stream->status_count + event->statuses;

		status.position = (int64_t)at_most(cursor, UINT32_MAX);
		status.source = changed_small(cursor, 0);
		status.tag = changed_small(cursor, 0);
		if (row < stream->status_capacity)
			stream->statuses[row] = status;
		event->statuses++;
	}
}

static void read_foreign(const struct skelgen_stream *stream, struct cursor *cursor,
			 struct event *event)
{
	uint64_t count = varint(cursor);

	for (uint64_t i = 0; i < count && !cursor->stop; i++) {
		struct skelgen_foreign foreign = {.event = stream->event_count};
		int64_t row = stream->foreign_count + event->foreign;

		foreign.thread = (int64_t)at_most(cursor, INT32_MAX);
		foreign.number = (int64_t)at_most(cursor, LARGEST_NUMBER);
		if (row < stream->foreign_capacity)
			stream->foreign[row] = foreign;
		event->foreign++;
	}
}

static void read_extras(const struct skelgen_stream *stream, struct cursor *cursor,
			struct event *event)
{
	uint64_t extras = event->extras = varint(cursor);

	if (extras & ~(uint64_t)KNOWN_EXTRAS)
		failed(cursor, SKELGEN_STOP_EXTRA);
	if (extras & SKELGEN_EXTRA_LONG) {
		event->gap |= (int64_t)(at_most(cursor, LATEST_UNITS >> 32) << 32);
		event->duration |= (int64_t)(at_most(cursor, LATEST_UNITS >> 32) << 32);
	}
	if (extras & SKELGEN_EXTRA_OVERHEAD)
		event->overhead = (int64_t)at_most(cursor, LATEST_UNITS);
	if (extras & SKELGEN_EXTRA_LOST)
		event->lost_us = (int64_t)at_most(cursor, UINT32_MAX);
	if (extras & SKELGEN_EXTRA_VALUES)
		read_values(stream, cursor, event);
	if (extras & SKELGEN_EXTRA_VECTORS) {
		if (event->shape->flags & SKELGEN_SHAPE_VECTOR_A)
			event->vector_a = checked_vector(stream, cursor);
		if (event->shape->flags & SKELGEN_SHAPE_VECTOR_B)
			event->vector_b = checked_vector(stream, cursor);
	}
	if (extras & SKELGEN_EXTRA_STATUS)
		read_statuses(stream, cursor, event);
	if (extras & SKELGEN_EXTRA_REPEAT) {
		event->polls = (int64_t)at_most(cursor, LARGEST_SIZE);
		event->inside = (int64_t)at_most(cursor, LATEST_UNITS);
	}
	if (extras & SKELGEN_EXTRA_OBJECT)
		varint(cursor);
	if (extras & SKELGEN_EXTRA_ERROR)
		varint(cursor);
	if (extras & SKELGEN_EXTRA_FOREIGN)
		read_foreign(stream, cursor, event);
}

static uint32_t prediction(const struct skelgen_stream *stream)
{
	uint32_t slot = stream->context >> 20;

	if (stream->long_predicted[slot] && stream->long_context[slot] == stream->context)
		return stream->long_predicted[slot];
	return stream->predicted[(31 * stream->before + stream->last) % SKELGEN_PREDICTIONS];
}

/*
 * Read one event after its tag; whether it is sound. All fields are set one by one: zeros for all
 * of it cost more.
 */
static bool read_event(const struct skelgen_stream *stream, struct cursor *cursor, uint8_t tag,
		       struct event *event)
{
	struct skelgen_call_shape *shape;
	uint64_t id;

	event->gap = fixed(cursor, ((tag & SKELGEN_EVENT_GAP_BYTES) >> 2) + 1);
	event->duration = fixed(cursor, (tag & SKELGEN_EVENT_DURATION_BYTES) + 1);
	if (tag & SKELGEN_EVENT_SHAPE)
		id = varint(cursor);
	else
		id = prediction(stream);
	if (!cursor->stop && (id == 0 || id > (uint64_t)stream->shape_count))
		failed(cursor, SKELGEN_STOP_SHAPE);
	if (cursor->stop)
		return false;
	event->shape = shape = &stream->shapes[id - 1];
	event->count_a = shape->history_a[(shape->newest + 1 - shape->lag) % SKELGEN_COUNT_HISTORY];
	event->count_b = shape->history_b[(shape->newest + 1 - shape->lag) % SKELGEN_COUNT_HISTORY];
	event->counts_given = tag & SKELGEN_EVENT_COUNT;
	event->peer = shape->peer;
	event->tag = shape->tag;
	event->peer2 = shape->peer2;
	event->tag2 = shape->tag2;
	event->reference = shape->reference;
	event->vector_a = shape->vector_a;
	event->vector_b = shape->vector_b;
	event->overhead = event->lost_us = event->statuses = event->foreign = 0;
	event->extras = 0;
	event->polls = 1;
	event->inside = 0;
	if ((tag & SKELGEN_EVENT_COUNT) && (shape->flags & SKELGEN_SHAPE_HAS_A))
		event->count_a = changed(cursor, event->count_a, LARGEST_NUMBER);
	if ((tag & SKELGEN_EVENT_COUNT) && (shape->flags & SKELGEN_SHAPE_HAS_B))
		event->count_b = changed(cursor, event->count_b, LARGEST_NUMBER);
	if (tag & SKELGEN_EVENT_EXTRAS)
		read_extras(stream, cursor, event);
	event->told = stream->queue_told && event->lost_us;
	event->queued_us =
		stream->next_queued_us < event->lost_us ? stream->next_queued_us : event->lost_us;
	if (event->gap > LATEST_UNITS - stream->time_units ||
	    event->duration > LATEST_UNITS - stream->time_units - event->gap)
		failed(cursor, SKELGEN_STOP_RANGE);
	return !cursor->stop;
}

static int64_t nanoseconds(const struct skelgen_stream *stream, int64_t units)
{
	double time_ns = (double)units * stream->ns_per_unit + 0.5;

	return time_ns < (double)LATEST_UNITS ? (int64_t)time_ns : LATEST_UNITS;
}

/* How long a rank worked between polls that found nothing [units]; 0 where it only polled. */
static int64_t work_amid(const struct skelgen_stream *stream, const struct event *event)
{
	int64_t work = event->duration - event->inside, gaps = event->polls - 1;

	if (gaps < 1 || work / SKELGEN_WORK_AMID_POLLS < event->inside)
		return 0;
	return nanoseconds(stream, work) / SKELGEN_WORK_AMID_POLLS_NS < gaps ? 0 : work;
}
