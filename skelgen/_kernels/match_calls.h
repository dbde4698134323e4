/*
 * Join messages and collectives of all ranks into whole matched events.
 *
 * Receives of all ranks are queued by channel (communicator, source, destination, tag) in
 * posting order; then sends take them in posting order. A channel is looked up once for each
 * rank and shape, not for each call. Events are the components of a union-find over calls, whose
 * parent array is the result itself: a parent always has the smaller number.
 */
#include <stdlib.h>
#include <string.h>
#include "match_work.h"
#include "match_channels.h"
#include "match_collectives.h"

static void begin_rank(struct work *w, int64_t rank, uint32_t stamp)
{
	w->rank = (int32_t)rank;
	w->stamp = stamp;
	w->created = w->lasting = 0;
	memset(w->side, UNKNOWN, (size_t)w->in->communicators);
	if (w->stream_next)
		memset(w->stream_next, 0, (size_t)w->in->streams * sizeof(*w->stream_next));
}

/* Where a request is kept; of each sort the latest ones are. */
static int64_t place_of(const struct work *w, int64_t number, int lasting)
{
	return 1 + (number & (w->requests - 1)) + (lasting ? w->requests : 0);
}

/* Place of the request of an age, 0 when the trace does not hold its creation. */
static int64_t request_of(const struct work *w, int64_t age)
{
	int64_t sort = age < 0 ? w->lasting : w->created;
	int64_t number = sort + 1 - (age < 0 ? -age : age);

	if (number < 1 || number > sort)
		return 0;
	return place_of(w, number, age < 0);
}

static void create_request(struct work *w, int64_t call, uint16_t role, int64_t activity,
			   int64_t instance)
{
	int lasting = !!(role & PERSISTENT);
	int64_t number = place_of(w, lasting ? ++w->lasting : ++w->created, lasting);

	w->request_call[number] = call;
	w->active[number] = activity;
	w->begun[number] = instance;
}

/* Activity of a request in the first reading: an entry, or -2 - call of a collective. */
static void end_receive(struct work *w, int64_t call, int64_t number, int cancelled)
{
	int64_t activity = w->active[number];

	if (cancelled && activity < 0)
		return;
	w->active[number] = INACTIVE;
	if (cancelled)
		w->entry_call[activity] = -1;
	else if (activity >= 0)
		note_done(w->entry_done, activity, call);
	else if (activity <= -2)
		note_done(w->out->collective_done, -2 - activity, call);
}

static int receive_of_request(struct work *w, int64_t call, uint16_t role, int64_t number)
{
	uint32_t shape;

	if (!(role & SKELGEN_MATCH_STARTS)) {
		end_receive(w, call, number, role & SKELGEN_MATCH_CANCELS);
		return 0;
	}
	shape = w->in->shape[w->request_call[number]];
	if (w->in->role[shape] & SKELGEN_MATCH_COLLECTIVE_INIT)
		return arrive_by_start(w, call, number);
	if (!(w->in->role[shape] & SKELGEN_MATCH_RECEIVE_INIT))
		return 0;
	w->active[number] = post_receive(w, call, shape);
	return w->active[number] == -2 ? -1 : 0;
}

/* First reading: queue the receives, count in the participants of collectives. */
static int read_receives(struct work *w, int64_t call)
{
	const struct skelgen_match_input *in = w->in;
	uint32_t shape = in->shape[call];
	uint16_t role = in->role[shape];
	int64_t activity = INACTIVE;
	int64_t instance = INACTIVE;

	if (role & SKELGEN_MATCH_RECEIVES) {
		activity = post_receive(w, call, shape);
		if (activity == -2)
			return -1;
		if (activity >= 0 && !(role & SKELGEN_MATCH_CREATES))
			note_done(w->entry_done, activity, call);
	}
	if (role & SKELGEN_MATCH_COLLECTIVE) {
		instance = arrive(w, call, shape);
		activity = blocks(role) ? INACTIVE : -2 - call;
	}
	if (role & SKELGEN_MATCH_CREATES)
		create_request(w, call, role, activity, instance);
	if (!(role & (SKELGEN_MATCH_STARTS | SKELGEN_MATCH_COMPLETES | SKELGEN_MATCH_CANCELS)))
		return 0;
	for (int64_t k = in->age_first[in->ages[call]]; k < in->age_first[in->ages[call] + 1];
	     k++) {
		int64_t number = request_of(w, in->age_values[k]);

		if (number && receive_of_request(w, call, role, number))
			return -1;
	}
	return 0;
}

static int send_of_request(struct work *w, int64_t call, uint16_t role, int64_t number)
{
	int64_t init;

	if (role & SKELGEN_MATCH_COMPLETES) {
		if (w->active[number] >= 0)
			note_done(w->out->send_done, w->active[number], call);
		w->active[number] = INACTIVE;
		return 0;
	}
	init = w->request_call[number];
	if (w->in->role[w->in->shape[init]] & SKELGEN_MATCH_COLLECTIVE_INIT) {
		join_start(w, call, number, w->in->shape[init]);
		return 0;
	}
	if (w->in->role[w->in->shape[init]] & SKELGEN_MATCH_SEND_INIT)
		w->active[number] = post_send(w, call, w->in->shape[init], init);
	return w->active[number] == -2 ? -1 : 0;
}

/* Second reading: sends take receives, complete collectives become events. */
static int read_sends(struct work *w, int64_t call)
{
	const struct skelgen_match_input *in = w->in;
	uint32_t shape = in->shape[call];
	uint16_t role = in->role[shape];
	int64_t message = INACTIVE;
	int64_t instance = INACTIVE;

	if (role & SKELGEN_MATCH_SENDS) {
		message = post_send(w, call, shape, call);
		if (message == -2)
			return -1;
		if (message >= 0 && !(role & SKELGEN_MATCH_CREATES))
			note_done(w->out->send_done, message, call);
	}
	if (role & SKELGEN_MATCH_COLLECTIVE)
		instance = join_collective(w, call, shape);
	if (role & SKELGEN_MATCH_CREATES)
		create_request(w, call, role, message, instance);
	if (!w->out->send_done)
		role &= (uint16_t)~SKELGEN_MATCH_COMPLETES;
	if (!(role & (SKELGEN_MATCH_STARTS | SKELGEN_MATCH_COMPLETES)))
		return 0;
	for (int64_t k = in->age_first[in->ages[call]]; k < in->age_first[in->ages[call] + 1];
	     k++) {
		int64_t number = request_of(w, in->age_values[k]);

		if (number && send_of_request(w, call, role, number))
			return -1;
	}
	return 0;
}

/* Turn parents into numbers of events, in the order of their first calls. */
static void number_events(struct skelgen_match_output *out, int64_t calls)
{
	skelgen_call *whole_event = out->whole_event;

	/* A parent comes before its children: it already holds -2 - number. */
	out->whole_events = 0;
	for (int64_t call = 0; call < calls; call++) {
		if (whole_event[call] == call)
			whole_event[call] = (skelgen_call)(-2 - out->whole_events++);
		else if (whole_event[call] >= 0)
			whole_event[call] = whole_event[whole_event[call]];
	}
	for (int64_t call = 0; call < calls; call++)
		if (whole_event[call] < -1)
			whole_event[call] = -2 - whole_event[call];
}

/* The oldest request that any call names; more than `most` count as these. */
static int64_t oldest_age(const struct skelgen_match_input *in, int64_t most)
{
	int64_t oldest = 0;

	for (int64_t k = 0; k < in->age_first[in->age_rows]; k++) {
		int64_t age = in->age_values[k];

		if (age > most || age < -most)
			return most;
		if (age > oldest || -age > oldest)
			oldest = age < 0 ? -age : age;
	}
	return oldest;
}

int skelgen_match_count(const struct skelgen_match_input *in, struct skelgen_match_counts *counts)
{
	size_t streams = (size_t)in->streams + 1;
	int64_t *longest = calloc(streams, sizeof(*longest));
	int64_t *length = calloc(streams, sizeof(*length));

	memset(counts, 0, sizeof(*counts));
	for (int64_t rank = 0; rank < in->ranks && longest && length; rank++) {
		int64_t requests = 0;

		memset(length, 0, streams * sizeof(*length));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++) {
			uint32_t shape = in->shape[call], row = in->ages[call];
			uint16_t role = in->role[shape];
			int64_t started = 0;

			if (role & SKELGEN_MATCH_STARTS)
				started = in->age_first[row + 1] - in->age_first[row];
			counts->sends += started + !!(role & SKELGEN_MATCH_SENDS);
			counts->receives += started + !!(role & SKELGEN_MATCH_RECEIVES);
			requests += !!(role & SKELGEN_MATCH_CREATES);
			if (role & SKELGEN_MATCH_COLLECTIVE)
				length[in->stream[shape]]++;
		}
		if (requests > counts->requests)
			counts->requests = requests;
		for (size_t stream = 0; stream < streams; stream++)
			if (length[stream] > longest[stream])
				longest[stream] = length[stream];
	}
	for (size_t stream = 0; stream < streams && longest; stream++)
		counts->collectives += longest[stream];
	counts->requests = oldest_age(in, counts->requests);
	free(length);
	free(longest);
	return length && longest ? 0 : -1;
}

static int read_calls(struct work *w)
{
	const struct skelgen_match_input *in = w->in;

	for (int64_t rank = 0; rank < in->ranks; rank++) {
		begin_rank(w, rank, (uint32_t)(2 * rank + 1));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++)
			if (in->role[in->shape[call]] && read_receives(w, call))
				return -1;
	}
	for (int64_t rank = 0; rank < in->ranks; rank++) {
		begin_rank(w, rank, (uint32_t)(2 * rank + 2));
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++)
			if (in->role[in->shape[call]] && read_sends(w, call))
				return -1;
	}
	for (int64_t entry = 0; entry < w->entries; entry++)
		if (w->entry_call[entry] >= 0)
			w->out->lonely[w->entry_call[entry]] = 1;
	return 0;
}

int skelgen_match(const struct skelgen_match_input *in, const struct skelgen_match_counts *counts,
		  struct skelgen_match_output *out)
{
	struct work w = {.in = in, .out = out};
	int64_t calls = in->first[in->ranks];
	int status = allocate(&w, counts);

	out->messages = 0;
	memset(out->whole_event, -1, (size_t)calls * sizeof(*out->whole_event));
	if (out->collective_done)
		memset(out->collective_done, -1, (size_t)calls * sizeof(*out->collective_done));
	memset(out->lonely, 0, (size_t)calls);
	if (!status) {
		lay_out_streams(&w);
		status = read_calls(&w);
	}
	number_events(out, calls);
	release(&w);
	return status;
}
