/* SPDX-License-Identifier: BSD-3-Clause */
/* What recording costs, measured at the start on a stream that goes nowhere. */
#include "lifecycle/recording_cost.h"

#include "base/clock.h"
#include "base/mpi_library.h"
#include "base/state.h"
#include "definitions/request.h"
#include "definitions/request_table.h"
#include "event/cpu_sample.h"
#include "event/event.h"
#include "intern/prediction.h"
#include "lifecycle/stream.h"

enum { EVENTS = 64, ROUNDS = 20 };

static uint64_t picoseconds(uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1e12 / (double)skelgen.ticks_per_s / EVENTS);
}

/* Events around calls that take no time: what they last is the recorder's. */
static void measure_events(struct skelgen_stream *s, struct skelgen_call call)
{
	const unsigned uses = SKELGEN_USES_COMM | SKELGEN_USES_A | SKELGEN_USES_PEER;
	static uint8_t memory[EVENTS * 16];
	uint64_t best = UINT64_MAX;

	s->limit = memory + sizeof(memory);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = skelgen_ticks();
		uint64_t inside = 0;
		uint64_t all;

		s->write = memory;
		s->last_end = begin >> skelgen.shift;
		for (int i = 0; i < EVENTS; i++) {
			bool foreseen = skelgen_foreseen(s, call, 0, uses);
			uint64_t from = skelgen_clock_begin(s, skelgen_now());
			uint64_t to = skelgen_now();

			s->special = 0;
			if (likely(foreseen))
				skelgen_event_foreseen(s, MPI_SUCCESS, call, uses, from, to);
			else
				skelgen_event(s, call, uses, from, to);
			inside += (to - from) << skelgen.shift;
		}
		all = skelgen_ticks() - begin;
		if (all >= best || all < inside)
			continue;
		best = all;
		skelgen.cost_ps = picoseconds(all - inside);
		skelgen.inside_ps = picoseconds(inside);
	}
}

static void measure_requests(struct skelgen_stream *s)
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = skelgen_ticks();

		for (int i = 0; i < EVENTS; i += 2) {
			skelgen_request_created(s, 1, 0, begin);
			skelgen_completed_one(s, 1, MPI_STATUS_IGNORE);
		}
		begin = skelgen_ticks() - begin;
		if (begin < best)
			best = begin;
	}
	skelgen.request_ps = picoseconds(best);
}

void skelgen_measure_cost(void)
{
	struct skelgen_stream *current = skelgen_current;
	struct skelgen_stream *s = skelgen_stream_new(0);
	struct skelgen_call call = {.site = 1, .peer = 1, .tag = 1, .count_a = 1};
	struct skelgen_shape *shape = s ? skelgen_shape_new(s) : NULL;

	if (!shape) {
		if (s)
			skelgen_stream_free(s);
		return;
	}
	shape->site = 1;
	shape->function = 0;
	shape->peer = 1;
	shape->tag = 1;
	shape->count_a = 1;
	shape->id = 1;
	s->predicted = shape;
	s->stopped = true; /* for all slow paths: there is no file */
	measure_events(s, call);
	shape->reference = 1 << 2 | SKELGEN_REF_AGE;
	measure_requests(s);
	skelgen_current = current; /* an event makes its own the current one */
	skelgen_stream_free(s);
}
