/* SPDX-License-Identifier: BSD-3-Clause */
/* What every recorded call runs through. Included by recorder.h, whose types it needs. */
#ifndef SKELGEN_FAST_H
#define SKELGEN_FAST_H

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Encoding */
SKELGEN_INLINE uint8_t *skelgen_put_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

SKELGEN_INLINE uint64_t skelgen_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

SKELGEN_INLINE uint8_t *skelgen_put_zigzag(uint8_t *p, int64_t value)
{
	return skelgen_put_varint(p, skelgen_zigzag(value));
}

SKELGEN_INLINE uint8_t *skelgen_put_string(uint8_t *p, const char *text, size_t bytes)
{
	p = skelgen_put_varint(p, bytes);
	memcpy(p, text, bytes);
	return p + bytes;
}

/* The first byte of a record is stored last: what precedes a zero tag is complete. */
SKELGEN_INLINE void skelgen_commit(uint8_t *record, uint8_t tag)
{
	__atomic_store_n(record, tag, __ATOMIC_RELEASE);
}

/* Time */
SKELGEN_INLINE uint64_t skelgen_ticks(void)
{
#if defined(__x86_64__)
	if (likely(skelgen.use_tsc))
		return __rdtsc();
#endif
	return skelgen_monotonic_ns();
}

SKELGEN_INLINE uint64_t skelgen_now(void)
{
	return skelgen_ticks() >> skelgen.shift;
}

/* The same where the time stamp counter is trusted (skelgen_foreseen() looks). */
SKELGEN_INLINE uint64_t skelgen_tsc(void)
{
#if defined(__x86_64__)
	return __rdtsc() >> skelgen.shift;
#else
	return skelgen_now();
#endif
}

/* A call begins now: look what the thread did when the gap before it was long. */
SKELGEN_INLINE uint64_t skelgen_clock_begin(struct skelgen_stream *s, uint64_t now)
{
	if (unlikely(now - s->last_end > skelgen.long_gap))
		return skelgen_sample_begin(s, now);
	return now;
}

/* Where the frame of the function ends that this stands in, towards its caller. */
#define SKELGEN_FRAME ((uintptr_t)__builtin_dwarf_cfa())

/*
 * While a wrapper runs there is no current stream, so the MPI calls that the library makes
 * itself (Fortran over C, I/O over messages) are passed on unseen. `function` is 0 for those
 * that phases do not count, such as completions.
 */
SKELGEN_INLINE struct skelgen_stream *skelgen_begin(uint32_t function)
{
	struct skelgen_stream *s = skelgen_current;

	if (unlikely(!s))
		return skelgen_begin_slow(function, SKELGEN_FRAME);
	skelgen_current = NULL;
	s->frame = SKELGEN_FRAME;
	return s;
}

SKELGEN_INLINE void skelgen_end(struct skelgen_stream *s)
{
	if (likely(!s->stopped))
		skelgen_current = s;
	else
		skelgen_phase_leave();
}

/* The handle that a pointer leads to; a wrong program may pass NULL. */
#define skelgen_handle_at(pointer) ((pointer) ? (uint64_t)(uintptr_t)*(pointer) : 0)

#define SKELGEN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))

SKELGEN_INLINE int32_t skelgen_peer(int rank)
{
	if (likely(rank >= 0))
		return rank;
	if (rank == MPI_PROC_NULL)
		return SKELGEN_PROC_NULL;
	if (rank == MPI_ANY_SOURCE)
		return SKELGEN_ANY_SOURCE;
	return rank == MPI_ROOT ? SKELGEN_ROOT : SKELGEN_NO_PEER;
}

SKELGEN_INLINE int32_t skelgen_tag(int tag)
{
	if (likely(tag >= 0))
		return tag;
	return tag == MPI_ANY_TAG ? SKELGEN_ANY_TAG : SKELGEN_NO_TAG;
}

/* Two neighbouring 32-bit fields as one number, from memory and from values. */
SKELGEN_INLINE uint64_t skelgen_eight(const void *fields)
{
	uint64_t value;

	memcpy(&value, fields, sizeof(value));
	return value;
}

SKELGEN_INLINE uint64_t skelgen_pair(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)second << 32 | first;
#else
	return (uint64_t)first << 32 | second;
#endif
}

SKELGEN_INLINE bool skelgen_matches(const struct skelgen_shape *shape, struct skelgen_call call,
				    unsigned uses)
{
	uint64_t differs = shape->site ^ call.site;

	/* Another thread may free a handle now, though none that this call is passed. */
	differs |= __atomic_load_n(&shape->kind, __ATOMIC_RELAXED) ^
		   skelgen_pair(call.function, call.flags);
	if (uses & SKELGEN_USES_COMM)
		differs |= shape->comm ^ call.comm;
	if (uses & SKELGEN_USES_A)
		differs |= shape->type_a ^ call.type_a;
	if (uses & SKELGEN_USES_B)
		differs |= shape->type_b ^ call.type_b;
	if (uses & SKELGEN_USES_PEER)
		differs |= skelgen_eight(&shape->peer) ^
			   skelgen_pair((uint32_t)call.peer, (uint32_t)call.tag);
	if (uses & SKELGEN_USES_PEER2)
		differs |= skelgen_eight(&shape->peer2) ^
			   skelgen_pair((uint32_t)call.peer2, (uint32_t)call.tag2);
	if (uses & SKELGEN_USES_OP)
		differs |= shape->op ^ call.op;
	if (uses & SKELGEN_USES_REFERENCE)
		differs |= shape->reference ^ call.reference;
	return !differs;
}

/* Remember the shape of the event just written and look up what should follow. */
SKELGEN_INLINE void skelgen_predict(struct skelgen_stream *s, struct skelgen_shape *shape)
{
	const struct skelgen_link *link = &shape->link;

	if (unlikely(link->where != s->where || link->version != s->version))
		skelgen_learn(s, shape);
	s->where = link->then;
	s->predicted = link->next;
}

/* Take an event's counts into the shape's history and predict the next ones. */
SKELGEN_INLINE void skelgen_turn(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	const struct skelgen_counts *next;

	shape->newest = (shape->newest + 1) % SKELGEN_COUNT_HISTORY;
	shape->history[shape->newest] = (struct skelgen_counts){a, b};
	next = &shape->history[(shape->newest + 1 - shape->lag) % SKELGEN_COUNT_HISTORY];
	shape->count_a = next->a;
	shape->count_b = next->b;
	shape->turning -= shape->lag == 1;
}

/* Write gap and duration (below 2^32) and return the bits that tell their lengths. */
SKELGEN_INLINE uint8_t *skelgen_put_times(uint8_t *p, uint32_t gap, uint32_t duration,
					  unsigned *tag)
{
	unsigned gap_bytes = (unsigned)(31 ^ __builtin_clz(gap | 1)) >> 3;
	unsigned duration_bytes = (unsigned)(31 ^ __builtin_clz(duration | 1)) >> 3;

	memcpy(p, &gap, sizeof(gap));
	p += gap_bytes + 1;
	memcpy(p, &duration, sizeof(duration));
	p += duration_bytes + 1;
	*tag |= gap_bytes << 2 | duration_bytes;
	return p;
}

/* Write the record of the predicted shape; its counts may be others. */
SKELGEN_INLINE void skelgen_write(struct skelgen_stream *s, int64_t count_a, int64_t count_b,
				  unsigned uses, uint64_t begin, uint64_t end)
{
	struct skelgen_shape *shape = s->predicted;
	unsigned tag = SKELGEN_REC_EVENT;
	uint8_t *record = s->write;
	uint8_t *p = skelgen_put_times(record + 1, (uint32_t)(begin - s->last_end),
				       (uint32_t)(end - begin), &tag);
	/* The sides that a function lacks have counts of 0 in shapes and calls. */
	int64_t delta_a = 0;
	int64_t delta_b = 0;

	if (uses & (SKELGEN_USES_A | SKELGEN_USES_COUNT_A))
		delta_a = count_a - shape->count_a;
	if (uses & SKELGEN_USES_B)
		delta_b = count_b - shape->count_b;
	if (uses & (SKELGEN_USES_A | SKELGEN_USES_COUNT_A | SKELGEN_USES_B)) {
		if (unlikely(delta_a | delta_b)) {
			tag |= SKELGEN_EVENT_COUNT;
			if (shape->flags & SKELGEN_SHAPE_HAS_A)
				p = skelgen_put_zigzag(p, delta_a);
			if (shape->flags & SKELGEN_SHAPE_HAS_B)
				p = skelgen_put_zigzag(p, delta_b);
			skelgen_count_miss(shape, count_a, count_b);
		} else if (unlikely(shape->turning)) {
			skelgen_turn(shape, count_a, count_b);
		}
	}
	if (uses & SKELGEN_USES_REFERENCE && unlikely(s->special)) {
		tag |= SKELGEN_EVENT_EXTRAS;
		p = skelgen_status_extras(p, s);
	}
	skelgen_commit(record, (uint8_t)tag);
	s->write = p;
	s->last_end = end;
	s->events++;
	skelgen_predict(s, shape);
	if (unlikely(p > s->limit))
		skelgen_grow(s);
}

/* Whether something keeps an event from being written the short way, beside its call. */
SKELGEN_INLINE bool skelgen_is_special(const struct skelgen_stream *s, unsigned uses,
				       uint64_t duration)
{
	uint64_t special = s->special | skelgen.paused;

	return duration > skelgen.long_gap ||
	       (special && !(uses & SKELGEN_USES_REFERENCE && special == SKELGEN_SPECIAL_STATUS));
}

/*
 * Append an event. The predicted shape without extras takes the short way; `uses` is a constant,
 * so that only the fields which the function has are compared.
 */
SKELGEN_INLINE void skelgen_event(struct skelgen_stream *s, struct skelgen_call call, unsigned uses,
				  uint64_t begin, uint64_t end)
{
	if (unlikely(!skelgen_matches(s->predicted, call, uses) ||
		     skelgen_is_special(s, uses, end - begin))) {
		struct skelgen_call copy = call;

		skelgen_event_general(s, &copy, begin, end);
		return;
	}
	skelgen_write(s, call.count_a, call.count_b, uses, begin, end);
}

/* Whether a call will be the predicted one, should it succeed, as far as its arguments tell. */
SKELGEN_INLINE bool skelgen_foreseen(const struct skelgen_stream *s, struct skelgen_call call,
				     uint32_t flags, unsigned uses)
{
#if defined(__x86_64__)
	if (unlikely(!skelgen.use_tsc))
		return false;
#endif
	call.flags |= flags;
	return skelgen_matches(s->predicted, call, uses & ~(unsigned)SKELGEN_USES_REFERENCE);
}

/* Append the event of a foreseen call: the wrapper's last act. */
SKELGEN_INLINE void skelgen_event_foreseen(struct skelgen_stream *s, int code,
					   struct skelgen_call call, unsigned uses, uint64_t begin,
					   uint64_t end)
{
	if (unlikely(
		    code != MPI_SUCCESS || skelgen_is_special(s, uses, end - begin) ||
		    (uses & SKELGEN_USES_REFERENCE && call.reference != s->predicted->reference))) {
		int64_t counts[2] = {call.count_a, call.count_b};

		skelgen_event_unforeseen(s, code, call.function, counts, call.reference, begin,
					 end);
		return;
	}
	skelgen_current = s; /* unless its file ends now */
	skelgen_write(s, call.count_a, call.count_b, uses, begin, end);
}

/* A poll that found nothing, as the one before it: only the count and the time grow. */
SKELGEN_INLINE bool skelgen_poll_again(struct skelgen_stream *s, const struct skelgen_call *call,
				       uint64_t begin, uint64_t end)
{
	struct skelgen_poll *poll = &s->poll;

	if (unlikely((s->special | SKELGEN_SPECIAL_STACK) !=
			     (SKELGEN_SPECIAL_POLL | SKELGEN_SPECIAL_STACK) ||
		     skelgen.paused || begin - poll->end >= skelgen.polling_gap ||
		     memcmp(&poll->call, call, sizeof(*call)) != 0))
		return false;
	poll->count++;
	poll->inside += end - begin;
	poll->end = end;
	s->last_end = end;
	return true;
}

#endif
