/* Send and receive between two ranks: one way of a round trip over sizes, and the eager limit. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

enum { TRIP = 1, PROBED = 2, DECIDED = 3, MOST_TRIPS = 1000, PROBE_TRIPS = 20, FINENESS = 16 };

/* Largest message, and what is measured whatever the budget: else nothing tells the bandwidth. */
static const int LARGEST = 4 << 20, LEAST = 64 << 10;

/* So long may a send take that needs no receive, beyond what a round trip takes [s]. */
static const double PATIENCE_S = 2e-3;

struct size {
	int bytes;
	long trips;
	double times_s[REPEATS];
};

/* Two ranks, of which the first decides. */
struct pair {
	MPI_Comm comm;
	int rank;
	char *out, *in;
};

/* Half of the mean time of round trips [s]. */
static double one_way_s(const struct pair *pair, int bytes, long trips)
{
	double begin_s = now_s();

	for (long i = 0; i < trips; i++) {
		if (!pair->rank)
			MPI_Send(pair->out, bytes, MPI_BYTE, 1, TRIP, pair->comm);
		MPI_Recv(pair->in, bytes, MPI_BYTE, !pair->rank, TRIP, pair->comm,
			 MPI_STATUS_IGNORE);
		if (pair->rank)
			MPI_Send(pair->out, bytes, MPI_BYTE, 0, TRIP, pair->comm);
	}
	return (now_s() - begin_s) / (2 * (double)trips);
}

/* 0, 1, 8, 64 and from there two sizes for each power of two. */
static int list_sizes(struct size sizes[MOST_SIZES])
{
	int count = 0;

	for (int bytes = 0; bytes < 64; bytes = bytes ? 8 * bytes : 1)
		sizes[count++].bytes = bytes;
	for (int bytes = 64; bytes <= LARGEST; bytes *= 2) {
		sizes[count++].bytes = bytes;
		if (bytes < LARGEST)
			sizes[count++].bytes = bytes / 2 * 3;
	}
	return count;
}

/* How often each size makes the round trip; return how many sizes fit into the time. */
static int plan(const struct pair *pair, struct size *sizes, int count, double budget_s)
{
	double wanted_s = budget_s / (count * (REPEATS + 1)), planned_s = 0;
	double end_s = now_s() + budget_s;
	int chosen = 0;

	for (; chosen < count; chosen++) {
		struct size *size = &sizes[chosen];
		double once_s;

		one_way_s(pair, size->bytes, 1);
		once_s = 2 * one_way_s(pair, size->bytes, 2);
		size->trips = clamped(wanted_s / once_s, 1, MOST_TRIPS);
		planned_s += once_s * (double)(size->trips * REPEATS + 3);
		if (size->bytes > LEAST && (planned_s > budget_s || now_s() > end_s))
			size->trips = 0;
		MPI_Bcast(&size->trips, 1, MPI_LONG, 0, pair->comm);
		if (!size->trips)
			break;
	}
	return chosen;
}

/*
 * Say whether a send ends before its receive is posted. The partner waits for another message
 * meanwhile, so its MPI works; it posts the receive when the sender has decided, whatever that is.
 */
static int is_eager(const struct pair *pair, int bytes, double patience_s)
{
	MPI_Request request;
	int done = 0;
	double end_s = now_s() + patience_s;

	if (pair->rank) {
		MPI_Recv(&done, 1, MPI_INT, 0, DECIDED, pair->comm, MPI_STATUS_IGNORE);
		MPI_Recv(pair->in, bytes, MPI_BYTE, 0, PROBED, pair->comm, MPI_STATUS_IGNORE);
		return done;
	}
	MPI_Isend(pair->out, bytes, MPI_BYTE, 1, PROBED, pair->comm, &request);
	do
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	while (!done && now_s() < end_s);
	MPI_Send(&done, 1, MPI_INT, 1, DECIDED, pair->comm);
	if (!done)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	return done;
}

/*
 * The largest message that is sent at once, to a sixteenth; 0 when those that were measured have no
 * limit. A message that is handed over at once still takes its time to be copied or to leave.
 */
static int eager_bytes(const struct pair *pair, const struct size *largest)
{
	double patience_s = PATIENCE_S + 20 * one_way_s(pair, 0, PROBE_TRIPS);
	double byte_s = 4 * largest->times_s[0] / (largest->bytes + 1);
	int eager = 0, beyond = 1;

	while (beyond <= largest->bytes && is_eager(pair, beyond, patience_s + beyond * byte_s)) {
		eager = beyond;
		beyond *= 2;
	}
	if (beyond > largest->bytes)
		return 0;
	while (beyond - eager > 1 && beyond - eager > beyond / FINENESS) {
		int middle = eager + (beyond - eager) / 2;

		if (is_eager(pair, middle, patience_s + middle * byte_s))
			eager = middle;
		else
			beyond = middle;
	}
	return eager;
}

static void tell(const struct place *place, int partner, const struct size *size, int repeats,
		 int eager, double waited, struct text *text)
{
	const char *other = place->names[place->host_of[partner]];

	add(text, "{\"system\": \"message\", \"operation\": \"SR\", \"ranks\": 2, \"hosts\": [");
	add(text, "\"%s\"", place->name);
	if (strcmp(place->name, other))
		add(text, ", \"%s\"", other);
	add(text, "], \"bytes\": %d, ", size->bytes);
	add_values(text, size->times_s, repeats);
	add(text, ", \"eager_bytes\": %d, \"queued\": %.6g}\n", eager, waited);
}

static void *memory_for(size_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
		fail("no memory for messages: expected 4 MiB twice for each rank");
	return memset(memory, 1, bytes);
}

/* Measure two ranks of `comm`; `partner` is the second one's place among all. */
static void measure_pair(const struct place *place, MPI_Comm comm, int partner, double budget_s,
			 struct text *text)
{
	static struct size sizes[MOST_SIZES];
	struct pair pair = {.comm = comm, .out = memory_for(LARGEST), .in = memory_for(LARGEST)};
	struct waiting since = waiting_begins();
	double end_s = now_s() + PATIENCE * budget_s, waited, longest;
	int count, eager, repeats = 0;

	MPI_Comm_rank(comm, &pair.rank);
	count = plan(&pair, sizes, list_sizes(sizes), budget_s);
	/* A disturbance hits one repeat of many sizes, not all repeats of one. */
	for (; another(comm, repeats, end_s); repeats++)
		for (int i = 0; i < count; i++)
			sizes[i].times_s[repeats] =
				one_way_s(&pair, sizes[i].bytes, sizes[i].trips);
	eager = eager_bytes(&pair, &sizes[count - 1]);
	waited = waiting_share(since);
	MPI_Reduce(&waited, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
	for (int i = 0; !pair.rank && i < count; i++)
		tell(place, partner, &sizes[i], repeats, eager, longest, text);
	free(pair.out);
	free(pair.in);
}

/* The first two ranks of each host, all hosts at the same time. */
static void measure_inside(const struct place *place, double budget_s, struct text *text)
{
	int works = place->local < 2 && place->locals > 1;
	MPI_Comm comm;

	MPI_Comm_split(place->host, works ? 0 : MPI_UNDEFINED, place->local, &comm);
	if (works) {
		measure_pair(place, comm, place->rank, budget_s, text);
		MPI_Comm_free(&comm);
	}
	sleep_until_all(place->world);
}

/* The first ranks of two hosts, which are the first ones of `spread`. */
static void measure_between(const struct place *place, int host, double budget_s, struct text *text)
{
	int works = !place->local && (place->own_host == host || place->own_host == host + 1);
	int partner = 0;
	MPI_Comm comm;

	MPI_Comm_split(place->world, works ? 0 : MPI_UNDEFINED, place->own_host, &comm);
	while (place->host_of[partner] != host + 1)
		partner++;
	if (works) {
		measure_pair(place, comm, partner, budget_s, text);
		MPI_Comm_free(&comm);
	}
	sleep_until_all(place->world);
}

/* Never two pairs of hosts at a time: they may share a link. */
void measure_messages(const struct place *place, const struct budget *budget, struct text *text)
{
	measure_inside(place, budget->inside_s, text);
	for (int host = 0; host + 1 < place->hosts; host++)
		measure_between(place, host, budget->pair_s, text);
}
