/*
 * What the steps of random programs share. A program gets the parts that its steps use, in
 * this order; the parts are what empty lines separate. Each step of a program is an object
 * with drawn numbers, which its kind turns into calls.
 */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any step needs: a request and a buffer to and from each of 8 ranks. */
enum { REQUESTS = 32, THREADS = 3 };

struct group {
	MPI_Comm comm;
	int rank, size, colour;
};

struct step {
	/* Drawn: a number and a tag of its own, group, elements, and how to go about it. */
	int id, tag, group, count, root, shift, variant, work;
	/* While it runs. */
	int trip, pending, *out, *in, *memory;
	MPI_Request request[REQUESTS];
	MPI_Comm own;
	MPI_Win win;
};

/* Each rank is in one communicator of each family; the first one is all ranks. */
static struct group group[8];

/* What all messages were, whatever order they came in. */
static unsigned long long sum;

static unsigned long long mix(unsigned long long a, unsigned long long b)
{
	unsigned long long x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static const struct group *group_of(const struct step *s)
{
	return &group[s->group];
}

/* Room for a buffer for each rank, and more for derived types with holes. */
static int *room(struct step *s, int **buffer)
{
	if (!*buffer)
		*buffer = calloc((size_t)(8 * s->count + 64) * (size_t)(group_of(s)->size + 2),
				 sizeof(int));
	if (!*buffer)
		MPI_Abort(MPI_COMM_WORLD, 3);
	return *buffer;
}

static int *out_of(struct step *s)
{
	return room(s, &s->out);
}

static int *in_of(struct step *s)
{
	return room(s, &s->in);
}

/* Small numbers, so that sums of them are exact in any order. */
static int *fill(struct step *s, int n)
{
	int *buffer = out_of(s);
	unsigned long long from =
		mix(mix((unsigned)s->id, (unsigned)s->trip), (unsigned)group[0].rank);

	for (int i = 0; i < n; i++)
		buffer[i] = (int)(mix(from, (unsigned)i) & 0xfff);
	return buffer;
}

static void add(struct step *s, unsigned long long from, const int *buffer, int n)
{
	unsigned long long found = mix(mix((unsigned)s->id, from), (unsigned)n);

	for (int i = 0; i < n; i++)
		found = mix(found, (unsigned)buffer[i]);
	sum += found;
}

/* Add what came to the checksum: this, at this step of this rank. */
static void take(struct step *s, const int *buffer, int n)
{
	add(s, mix((unsigned)s->trip, (unsigned)group[0].rank), buffer, n);
}

/* Add what came at any time, from whoever it says. */
static void take_any(struct step *s, const int *buffer, int n)
{
	add(s, 0, buffer, n);
}

static void note(struct step *s, int value)
{
	take(s, &value, 1);
}

/* How many elements a message had, and that it came from where it should. */
static int came(struct step *s, MPI_Status *status)
{
	int n;

	MPI_Get_count(status, MPI_INT, &n);
	note(s, n);
	note(s, status->MPI_SOURCE);
	note(s, status->MPI_TAG);
	return n;
}

static int next_in(const struct step *s)
{
	return (group_of(s)->rank + s->shift) % group_of(s)->size;
}

static int previous_in(const struct step *s)
{
	return (group_of(s)->rank + group_of(s)->size * 8 - s->shift) % group_of(s)->size;
}

static int root_of(const struct step *s)
{
	return s->root % group_of(s)->size;
}

/* Work between the calls, a little more on some ranks. */
static void compute(const struct step *s)
{
	volatile double x = 1;

	for (int i = 0; i < s->work * (1 + (group[0].rank + s->trip) % 3); i++)
		x = x * 0.999 + 0.001;
}

static void act(struct step *s, void (*kind)(struct step *))
{
	s->trip++;
	compute(s);
	kind(s);
}

static void join(int number, MPI_Comm comm, int colour)
{
	group[number].comm = comm;
	group[number].colour = colour;
	MPI_Comm_rank(comm, &group[number].rank);
	MPI_Comm_size(comm, &group[number].size);
}

static void begin_world(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	join(0, MPI_COMM_WORLD, 0);
}

static void begin_threads(int *argc, char ***argv)
{
	int level;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
	join(0, MPI_COMM_WORLD, 0);
	if (level < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 4);
}

static MPI_Session session_of_all;

static void begin_session(int *argc, char ***argv)
{
	MPI_Group all;
	MPI_Comm comm;

	(void)argc;
	(void)argv;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session_of_all);
	MPI_Group_from_session_pset(session_of_all, "mpi://WORLD", &all);
	MPI_Comm_create_from_group(all, "skelgen", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&all);
	join(0, comm, 0);
}

static void end_session(void)
{
	for (int i = 0; i < 8; i++)
		if (group[i].comm != MPI_COMM_NULL && group[i].size)
			MPI_Comm_free(&group[i].comm);
	MPI_Session_finalize(&session_of_all);
}

/* A partitioned message before all else; why is in broken.toml. */
static void partitioned_first(void)
{
	const struct group *g = &group[0];
	int out = 1, in = 0, to = (g->rank + 1) % g->size, from = (g->rank + g->size - 1) % g->size;
	MPI_Request requests[2];

	MPI_Precv_init(&in, 1, 1, MPI_INT, from, 1, g->comm, MPI_INFO_NULL, &requests[0]);
	MPI_Psend_init(&out, 1, 1, MPI_INT, to, 1, g->comm, MPI_INFO_NULL, &requests[1]);
	MPI_Startall(2, requests);
	MPI_Pready(0, requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Barrier(g->comm);
}

static void finish(void)
{
	unsigned long long all = 0;

	MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, group[0].comm);
	if (!group[0].rank)
		printf("checksum %016llx\n", all);
}

static void split_parity(int number)
{
	MPI_Comm comm;
	int colour = group[0].rank % 2;

	MPI_Comm_split(group[0].comm, colour, group[0].rank, &comm);
	join(number, comm, colour);
}

static void split_halves(int number)
{
	MPI_Comm comm;
	int colour = 2 * group[0].rank >= group[0].size;

	MPI_Comm_split(group[0].comm, colour, -group[0].rank, &comm);
	join(number, comm, colour);
}

static void duplicate(int number)
{
	MPI_Comm comm;

	MPI_Comm_dup(group[0].comm, &comm);
	join(number, comm, 0);
}

static void reversed(int number)
{
	MPI_Comm comm;

	MPI_Comm_split(group[0].comm, 5, group[0].size - group[0].rank, &comm);
	join(number, comm, 0);
}

static void grouped(int number)
{
	MPI_Group all, mine;
	MPI_Comm comm;
	int first = group[0].rank == 0, range[3] = {1, group[0].size - 1, 1}, zero = 0;

	MPI_Comm_group(group[0].comm, &all);
	if (first)
		MPI_Group_incl(all, 1, &zero, &mine);
	else
		MPI_Group_range_incl(all, 1, &range, &mine);
	MPI_Comm_create_group(group[0].comm, mine, 7, &comm);
	MPI_Group_free(&mine);
	MPI_Group_free(&all);
	join(number, comm, first);
}
