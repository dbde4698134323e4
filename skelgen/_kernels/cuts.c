/*
 * Raise calls behind cuts until each is behind those that what it needs is behind.
 *
 * The cuts are looked at from the last one to the first. What is behind a cut is the end of each
 * rank, so one number for each rank says it all. A call that comes behind takes along all later
 * ones of its rank, what needs it, and the calls of other ranks that are one event with it. Each
 * call comes behind its last cut once, and is done: the time is linear, however long the chains
 * of ranks are that need each other.
 */
#include <stdint.h>
#include <stdlib.h>

#include "cuts.h"
#include "rank_of.h"

struct work {
	int64_t ranks;
	const int64_t *first;
	int32_t *side;
	uint32_t *newest; /* need of each call that it is needed in, from 1; 0: none (any more) */
	uint32_t *older;  /* the same of each need */
	uint32_t *needing;
	uint32_t *next;  /* call of the same event, in a ring; numbered from 1 */
	int64_t *behind; /* first call of each rank that is behind the cut */
	int64_t *done;   /* and the first of which all that follows is known */
	int64_t *ready;  /* ranks where these two may differ, a stack */
	int64_t ready_count;
	uint8_t *is_ready;
};

static void *array(int64_t count, size_t size)
{
	return calloc((size_t)count + 1, size);
}

static void let_go(struct work *w)
{
	free(w->newest);
	free(w->older);
	free(w->needing);
	free(w->next);
	free(w->behind);
	free(w->done);
	free(w->ready);
	free(w->is_ready);
}

/* Chain the needs of each call that is needed. */
static int chain_needs(struct work *w, const struct skelgen_cuts_input *in, int64_t calls)
{
	int64_t all = 0;

	for (int list = 0; list < SKELGEN_CUTS_LISTS; list++)
		all += in->needs[list];
	if (all >= UINT32_MAX || calls >= UINT32_MAX)
		return -1;
	w->newest = array(calls, sizeof(*w->newest));
	w->older = array(all, sizeof(*w->older));
	w->needing = array(all, sizeof(*w->needing));
	if (!w->newest || !w->older || !w->needing)
		return -1;
	all = 0;
	for (int list = 0; list < SKELGEN_CUTS_LISTS; list++) {
		for (int64_t i = 0; i < in->needs[list]; i++) {
			uint32_t needed = in->needed[list][i];

			w->needing[++all] = in->needing[list][i];
			w->older[all] = w->newest[needed];
			w->newest[needed] = (uint32_t)all;
		}
	}
	return 0;
}

/* Make a ring of the calls of each event. */
static int ring_events(struct work *w, const struct skelgen_cuts_input *in, int64_t calls)
{
	uint32_t *first = array(in->events, sizeof(*first));
	uint32_t *last = array(in->events, sizeof(*last));
	int failed = -1;

	w->next = array(calls, sizeof(*w->next));
	if (first && last && w->next) {
		failed = 0;
		for (int64_t call = 0; call < calls; call++) {
			uint32_t event = in->event[call];

			if (!event)
				continue;
			if (last[event])
				w->next[last[event] - 1] = (uint32_t)call + 1;
			else
				first[event] = (uint32_t)call + 1;
			last[event] = (uint32_t)call + 1;
		}
		for (int64_t event = 1; event <= in->events; event++)
			if (last[event])
				w->next[last[event] - 1] = first[event];
	}
	free(first);
	free(last);
	return failed;
}

static int start(struct work *w, const struct skelgen_cuts_input *in)
{
	w->behind = array(in->ranks, sizeof(*w->behind));
	w->done = array(in->ranks, sizeof(*w->done));
	w->ready = array(in->ranks, sizeof(*w->ready));
	w->is_ready = array(in->ranks, sizeof(*w->is_ready));
	if (!w->behind || !w->done || !w->ready || !w->is_ready)
		return -1;
	for (int64_t rank = 0; rank < in->ranks; rank++)
		w->behind[rank] = w->done[rank] = in->first[rank + 1];
	return 0;
}

/* Take a rank from a call on behind the cut. */
static void bring(struct work *w, int64_t rank, int64_t call)
{
	if (call >= w->behind[rank])
		return;
	w->behind[rank] = call;
	if (!w->is_ready[rank])
		w->ready[w->ready_count++] = rank;
	w->is_ready[rank] = 1;
}

/* Take a call behind a cut, unless it is. */
static void bring_call(struct work *w, int64_t call, int32_t cut)
{
	if (w->side[call] < cut)
		bring(w, rank_of(w->first, w->ranks, call), call);
}

/* A call is behind a cut: take along what needs it. */
static void follow(struct work *w, int64_t call, int32_t cut)
{
	w->side[call] = cut;
	for (uint32_t need = w->newest[call]; need; need = w->older[need])
		bring_call(w, w->needing[need], cut);
	/* one of the ring is enough, it takes along the next */
	if (w->next[call])
		bring_call(w, (int64_t)w->next[call] - 1, cut);
}

static void close_cut(struct work *w, int32_t cut)
{
	for (int64_t rank = 0; rank < w->ranks; rank++) {
		int64_t call = w->behind[rank];

		while (call > w->first[rank] && w->side[call - 1] >= cut)
			call--;
		bring(w, rank, call);
	}
	while (w->ready_count) {
		int64_t rank = w->ready[--w->ready_count];

		while (w->done[rank] > w->behind[rank])
			follow(w, --w->done[rank], cut);
		w->is_ready[rank] = 0;
	}
}

int skelgen_cuts_close(const struct skelgen_cuts_input *in, int32_t *side)
{
	struct work w = {.ranks = in->ranks, .first = in->first, .side = side};
	int64_t calls = in->first[in->ranks];
	int32_t last = 0;
	int failed =
		chain_needs(&w, in, calls) || ring_events(&w, in, calls) || start(&w, in) ? -1 : 0;

	for (int64_t call = 0; call < calls; call++)
		last = side[call] > last ? side[call] : last;
	for (int32_t cut = last; !failed && cut > 0; cut--)
		close_cut(&w, cut);
	let_go(&w);
	return failed;
}
