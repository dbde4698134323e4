/* Collective operations over sizes and numbers of ranks. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 8, MOST_TIMES = 200, ALONE = -1 };

/* Largest message of a rank, and of all together [bytes]. */
static const size_t LARGEST = (size_t)1 << 20, LARGEST_SUM = (size_t)16 << 20;

/* What cannot be told from nothing [s]. */
static const double SHORTEST_S = 1e-8;

/* Ranks, and room for what all of them send. */
struct group {
	MPI_Comm comm;
	int rank, ranks;
	char *out, *in;
};

static void broadcast(const struct group *group, int bytes)
{
	MPI_Bcast(group->out, bytes, MPI_BYTE, 0, group->comm);
}

static void reduce(const struct group *group, int bytes)
{
	MPI_Reduce(group->out, group->in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, 0,
		   group->comm);
}

static void allreduce(const struct group *group, int bytes)
{
	MPI_Allreduce(group->out, group->in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
		      group->comm);
}

static void allgather(const struct group *group, int bytes)
{
	MPI_Allgather(group->out, bytes, MPI_BYTE, group->in, bytes, MPI_BYTE, group->comm);
}

static void alltoall(const struct group *group, int bytes)
{
	MPI_Alltoall(group->out, bytes, MPI_BYTE, group->in, bytes, MPI_BYTE, group->comm);
}

static void barrier(const struct group *group, int bytes)
{
	(void)bytes;
	MPI_Barrier(group->comm);
}

/* Whether a rank holds the messages of all ranks, and whether there is nothing to send. */
static const struct {
	const char *name;
	void (*run)(const struct group *group, int bytes);
	int holds_all, sizeless;
} OPERATIONS[] = {
	{"BC", broadcast, 0, 0},        {"reduce", reduce, 0, 0},
	{"allreduce", allreduce, 0, 0}, {"allgather", allgather, 1, 0},
	{"alltoall", alltoall, 1, 0},   {"barrier", barrier, 0, 1},
};

enum { KINDS = sizeof(OPERATIONS) / sizeof(OPERATIONS[0]) };

struct size {
	int bytes;
	int times;
	double times_s[REPEATS];
};

/* Powers of two; for a barrier nothing. */
static int list_sizes(struct size sizes[MOST_SIZES], int kind, int ranks)
{
	size_t copies = OPERATIONS[kind].holds_all ? (size_t)ranks : 1;
	int count = 0;

	sizes[0].bytes = 0;
	if (OPERATIONS[kind].sizeless)
		return 1;
	for (size_t bytes = SMALLEST; bytes <= LARGEST; bytes *= 2)
		if (bytes * copies <= LARGEST_SUM || bytes == SMALLEST)
			sizes[count++].bytes = (int)bytes;
	return count;
}

/* Median time of an operation and a barrier after it, or of a barrier alone; on the first rank [s].
 */
static double with_barrier_s(const struct group *group, int kind, int bytes, int times)
{
	double each_s[MOST_TIMES];

	MPI_Barrier(group->comm);
	for (int i = 0; i < times; i++) {
		double begin_s = now_s();

		if (kind != ALONE)
			OPERATIONS[kind].run(group, bytes);
		MPI_Barrier(group->comm);
		each_s[i] = now_s() - begin_s;
	}
	return median(each_s, times);
}

/*
 * From a start at the same time to the end on the last rank [s]. A barrier takes its whole time
 * after the last rank has come to it, whatever the others did meanwhile, so that is taken off.
 */
static double time_of(const struct group *group, int kind, const struct size *size, double alone_s)
{
	double both_s = with_barrier_s(group, kind, size->bytes, size->times);

	return both_s > alone_s + SHORTEST_S ? both_s - alone_s : SHORTEST_S;
}

/* How often each size is repeated; return how many sizes fit into the time. */
static int plan(const struct group *group, int kind, struct size *sizes, int count, double budget_s)
{
	double wanted_s = budget_s / (count * (REPEATS + 1)), planned_s = 0;
	double end_s = now_s() + budget_s;
	int chosen = 0;

	for (; chosen < count; chosen++) {
		struct size *size = &sizes[chosen];
		double begin_s, once_s;

		with_barrier_s(group, kind, size->bytes, 1);
		begin_s = now_s();
		with_barrier_s(group, kind, size->bytes, 2);
		once_s = (now_s() - begin_s) / 2;
		size->times = (int)clamped(wanted_s / once_s, 1, MOST_TIMES);
		planned_s += once_s * (double)(size->times * REPEATS + 3);
		if (chosen && (planned_s > budget_s || now_s() > end_s))
			size->times = 0;
		MPI_Bcast(&size->times, 1, MPI_INT, 0, group->comm);
		if (!size->times)
			break;
	}
	return chosen;
}

/* The hosts of the first ranks of `spread`: all of them as soon as there are as many ranks. */
static void add_hosts(const struct place *place, int ranks, struct text *text)
{
	int count = ranks < place->hosts ? ranks : place->hosts;

	add(text, "\"hosts\": [");
	for (int i = 0; i < count; i++)
		add(text, "%s\"%s\"", i ? ", " : "", place->names[i]);
	add(text, "]");
}

static void measure_operation(const struct place *place, const struct group *group, int kind,
			      double budget_s, struct text *text)
{
	static struct size sizes[MOST_SIZES];
	struct waiting since = waiting_begins();
	double end_s = now_s() + PATIENCE * budget_s, waited, longest;
	int count = list_sizes(sizes, kind, group->ranks), repeats = 0;

	count = plan(group, kind, sizes, count, budget_s);
	for (; another(group->comm, repeats, end_s); repeats++) {
		double alone_s = with_barrier_s(group, ALONE, 0, sizes[0].times);

		for (int i = 0; i < count; i++)
			sizes[i].times_s[repeats] = time_of(group, kind, &sizes[i], alone_s);
	}
	waited = waiting_share(since);
	MPI_Reduce(&waited, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, group->comm);
	for (int i = 0; !group->rank && i < count; i++) {
		add(text, "{\"system\": \"message\", \"operation\": \"%s\", \"ranks\": %d, ",
		    OPERATIONS[kind].name, group->ranks);
		add_hosts(place, group->ranks, text);
		add(text, ", \"bytes\": %d, ", sizes[i].bytes);
		add_values(text, sizes[i].times_s, repeats);
		add(text, ", \"eager_bytes\": 0, \"queued\": %.6g}\n", longest);
	}
}

static void measure_group(const struct place *place, MPI_Comm comm, double budget_s,
			  struct text *text)
{
	struct group group = {.comm = comm};
	size_t bytes;

	MPI_Comm_rank(comm, &group.rank);
	MPI_Comm_size(comm, &group.ranks);
	bytes = (size_t)group.ranks * LARGEST;
	bytes = bytes < LARGEST_SUM ? bytes : LARGEST_SUM;
	if (bytes < (size_t)group.ranks * SMALLEST)
		bytes = (size_t)group.ranks * SMALLEST;
	group.out = calloc(bytes, 1);
	group.in = calloc(bytes, 1);
	if (group.out == NULL || group.in == NULL)
		fail("no memory for collectives: expected 32 MiB for each rank");
	memset(group.in, 1, bytes);
	for (int kind = 0; kind < KINDS; kind++)
		measure_operation(place, &group, kind, budget_s / KINDS, text);
	free(group.out);
	free(group.in);
}

/* The next number of ranks: powers of two, one rank on each host, all ranks. */
static int next_ranks(const struct place *place, int ranks)
{
	int next = ranks, all = place->ranks;

	for (next = 2; next <= ranks; next *= 2)
		;
	if (ranks < place->hosts && next > place->hosts)
		next = place->hosts;
	return ranks < all && next > all ? all : next;
}

/* Ranks are taken from each host in turn, so that few ranks are on many hosts. */
void measure_collectives(const struct place *place, double budget_s, struct text *text)
{
	int steps = 0, own;

	for (int ranks = 2; ranks <= place->ranks; ranks = next_ranks(place, ranks))
		steps++;
	MPI_Comm_rank(place->spread, &own);
	for (int ranks = 2; ranks <= place->ranks; ranks = next_ranks(place, ranks)) {
		int works = own < ranks;
		MPI_Comm comm;

		MPI_Comm_split(place->spread, works ? 0 : MPI_UNDEFINED, own, &comm);
		if (works) {
			measure_group(place, comm, budget_s / steps, text);
			MPI_Comm_free(&comm);
		}
		sleep_until_all(place->world);
	}
}
