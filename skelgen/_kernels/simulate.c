/*
 * Runs a skeleton without times: which rank gets how far when sends wait for their receives
 * (rendezvous) or do not (eager). Nothing depends on the order in which ranks are taken, for
 * receives name their sources. The Python twin stands in skeleton/proof/plain_simulation.py.
 */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#include "simulate_state.h"
#include "simulate_messages.h"
#include "simulate_meetings.h"

/* Request of a rank by age; NOBODY when there is none. */
static int64_t by_age(struct simulation *sim, int32_t rank, int64_t age)
{
	const int64_t *first = sim->script->request_first + rank;
	int64_t request = age > 0 ? sim->created[rank] - age : sim->lasting[rank] - age - 1;
	int known = age > 0 ? request >= first[0] : age < 0 && request < first[1];

	if (!known || sim->request[request] & GONE) {
		sim->outcome->misused++;
		return NOBODY;
	}
	return request;
}

/* Whether an operation creates a persistent request. */
static int is_init(const struct skelgen_script *script, int32_t row)
{
	int kind = script->kind[row];

	return kind == SEND_INIT || kind == RECEIVE_INIT || kind == COLLECTIVE_INIT;
}

static int is_persistent(const struct simulation *sim, int64_t request)
{
	return is_init(sim->script, sim->request_row[request]);
}

/* Size of the first execution of a row. */
static int64_t first_size(const struct skelgen_script *script, int32_t row)
{
	int64_t first = script->size_first[row];

	return first < script->size_first[row + 1] ? script->size_bytes[first] : 0;
}

static void start(struct simulation *sim, int32_t row, int32_t rank)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->age_first[row]; i < script->age_first[row + 1]; i++) {
		int64_t request = by_age(sim, rank, script->ages[i]);
		int64_t partner;
		int32_t init;

		if (request == NOBODY)
			continue;
		if (!is_persistent(sim, request) || sim->request[request] & ACTIVE) {
			sim->outcome->misused++;
			continue;
		}
		init = sim->request_row[request];
		partner = script->partner_first[init];
		sim->request[request] |= ACTIVE;
		sim->request[request] &= (uint8_t)~DONE;
		if (script->kind[init] == SEND_INIT)
			post_send(sim, script->send_channel[partner], rank, request,
				  first_size(script, init), script->mode[init]);
		else if (script->kind[init] == COLLECTIVE_INIT)
			attend(sim, next_start(sim, request), init, rank, request,
			       first_size(script, init));
		else
			post_receive(sim, script->receive_channel[partner], rank, request,
				     script->capacity_bytes[init]);
	}
}

static void wait_for_request(struct simulation *sim, int32_t rank, int64_t request)
{
	if (!(sim->request[request] & DONE)) {
		sim->request[request] |= WAITED;
		sim->waiting[rank]++;
	}
	if (is_persistent(sim, request))
		sim->request[request] &= (uint8_t)~ACTIVE;
	else
		sim->request[request] |= GONE;
}

/* Waits for all requests of a rank but persistent ones, and remembers that it did. */
static void wait_for_all(struct simulation *sim, int32_t rank)
{
	for (; sim->outstanding[rank] < sim->created[rank]; sim->outstanding[rank]++)
		if (!(sim->request[sim->outstanding[rank]] & GONE))
			wait_for_request(sim, rank, sim->outstanding[rank]);
}

static void wait_for(struct simulation *sim, int32_t row, int32_t rank)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->age_first[row]; i < script->age_first[row + 1]; i++) {
		int64_t request;

		if (script->ages[i] == ALL_OUTSTANDING) {
			wait_for_all(sim, rank);
			continue;
		}
		request = by_age(sim, rank, script->ages[i]);
		if (request != NOBODY)
			wait_for_request(sim, rank, request);
	}
}

static void release_requests(struct simulation *sim, int32_t row, int32_t rank)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->age_first[row]; i < script->age_first[row + 1]; i++) {
		int64_t request = by_age(sim, rank, script->ages[i]);

		if (request != NOBODY)
			sim->request[request] |= GONE;
	}
}

static int64_t new_request(struct simulation *sim, int32_t rank, int32_t row)
{
	int64_t request = is_init(sim->script, row) ? --sim->lasting[rank] : sim->created[rank]++;

	sim->request_row[request] = row;
	return request;
}

/* Tells all partners, which waits for nobody, or waits until all of them have told. */
static void tell_or_await(struct simulation *sim, int32_t row, int32_t rank, int tells)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->partner_first[row]; i < script->partner_first[row + 1]; i++) {
		int32_t channel = tells ? script->send_channel[i] : script->receive_channel[i];

		if (channel == NOBODY)
			continue;
		sim->waiting[rank]++;
		if (tells)
			post_send(sim, channel, rank, NOBODY, 0, BUFFERED);
		else
			post_receive(sim, channel, rank, NOBODY, 0);
	}
}

/* Executes one step; afterwards `waiting` says whether the rank must wait. */
static void execute(struct simulation *sim, int32_t rank, int32_t row)
{
	const struct skelgen_script *script = sim->script;
	int64_t done = sim->executed[row]++;
	int64_t partners = script->partner_first[row + 1] - script->partner_first[row];
	int64_t sizes = script->size_first[row + 1] - script->size_first[row];
	int64_t partner = script->partner_first[row] + (partners > 1 ? done % partners : 0);
	int64_t bytes = 0;
	int64_t request = NOBODY;
	int kind = script->kind[row];

	if (sizes > 0)
		bytes = script->size_bytes[script->size_first[row] +
					   done * sizes / script->occurrences[row]];
	if (kind == ISEND || kind == IRECEIVE || kind == ISENDRECV || kind == ICOLLECTIVE ||
	    kind == SEND_INIT || kind == RECEIVE_INIT || kind == COLLECTIVE_INIT)
		request = new_request(sim, rank, row);
	sim->waiting[rank] =
		kind == SEND || kind == RECEIVE || kind == COLLECTIVE || kind == COLLECTIVE_INIT;
	switch (kind) {
	case SEND:
	case ISEND:
		post_send(sim, script->send_channel[partner], rank, request, bytes,
			  script->mode[row]);
		break;
	case RECEIVE:
	case IRECEIVE:
		post_receive(sim, script->receive_channel[partner], rank, request,
			     script->capacity_bytes[row]);
		break;
	case SENDRECV:
	case ISENDRECV:
		if (kind == SENDRECV)
			sim->waiting[rank] = 2;
		else
			sim->request[request] |= BOTH;
		post_send(sim, script->send_channel[partner], rank, request, bytes,
			  script->mode[row]);
		post_receive(sim, script->receive_channel[partner], rank, request,
			     script->capacity_bytes[row]);
		break;
	case SEND_INIT:
	case RECEIVE_INIT:
		sim->request[request] |= DONE;
		break;
	case SIGNAL:
	case AWAIT:
		tell_or_await(sim, row, rank, kind == SIGNAL);
		break;
	case START:
		start(sim, row, rank);
		break;
	case COMPLETE:
		wait_for(sim, row, rank);
		break;
	case RELEASE:
		release_requests(sim, row, rank);
		break;
	case COLLECTIVE:
	case ICOLLECTIVE:
		attend(sim, next_meeting(sim, script->stream[row], script->member[row]), row, rank,
		       request, bytes);
		break;
	case COLLECTIVE_INIT:
		/* It may wait for the others; what it creates is not yet started. */
		sim->request[request] |= DONE;
		sim->request_meeting[request] =
			next_meeting(sim, script->stream[row], script->member[row]);
		attend(sim, sim->request_meeting[request], row, rank, NOBODY, bytes);
		break;
	default:
		break;
	}
}

static void run(struct simulation *sim)
{
	const struct skelgen_script *script = sim->script;
	int32_t rank;

	for (rank = script->ranks - 1; rank >= 0; rank--)
		sim->ready[sim->readies++] = rank;
	while (sim->readies > 0 && !sim->broken) {
		int64_t steps;

		rank = sim->ready[--sim->readies];
		steps = script->first[rank + 1] - script->first[rank];
		/* A rank that was waiting has finished the step that made it wait. */
		while (!sim->broken && ++sim->position[rank] < steps) {
			int64_t step = script->first[rank] + sim->position[rank];

			execute(sim, rank, script->row[step]);
			if (sim->waiting[rank] > 0) {
				sim->blocked[rank] = 1;
				break;
			}
		}
	}
}

static void count_leftovers(struct simulation *sim)
{
	int32_t channel, item;

	for (channel = 0; channel < sim->script->channels; channel++) {
		for (item = sim->sends[channel].head; item != NOBODY; item = sim->item[item].next)
			sim->outcome->unreceived++;
		for (item = sim->receives[channel].head; item != NOBODY;
		     item = sim->item[item].next)
			sim->outcome->unsent++;
	}
}

/*
 * Notes in `position` how many steps each rank has finished. Returns 0, or -1 when there was
 * not enough memory.
 */
int skelgen_simulate(const struct skelgen_script *script, int rendezvous, int64_t *position,
		     struct skelgen_outcome *outcome)
{
	struct simulation sim = {
		.script = script,
		.outcome = outcome,
		.rendezvous = rendezvous,
		.position = position,
	};
	int error = prepare(&sim);

	memset(outcome, 0, sizeof(*outcome));
	if (!error) {
		run(&sim);
		count_leftovers(&sim);
		error = sim.broken ? -1 : 0;
	}
	release(&sim);
	return error;
}
