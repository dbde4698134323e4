/*
 * Performance skeleton of master_worker on 3 ranks, 1/3 of its time.
 * Written by skelgen 0.1.0. Plain C and MPI:
 *
 *	make && mpirun -n 3 ./skeleton
 *
 * It repeats a part of the application's calls, with its messages and computation, and
 * prints one line of JSON: its time in seconds, whole, by section and by rank. With the
 * argument --check it leaves out the computation.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, SECTIONS = 7, PAGE = 4096 };

struct group {
	MPI_Comm comm;
	int rank, size;
};
static struct group world;

/* ---- Computation ---- */

/*
 * compute(t) does the work that took t us on the reference machine, the same work on every
 * machine. Its rates are never measured again, for a slower machine shall take longer.
 * Reference: a core of one step per ns, 4 processes.
 */
#define ARITHMETIC_PER_US 1000.0
/* What a call takes, without and with the clock; shorter work is counted, not timed. */
#define CALL_US 0.0200
#define CLOCK_US 0.0800
#define TIMED_US 5.0

static double computed_us;
static int checking;
/* Keeps the arithmetic from being optimised away. */
static volatile double sink;

/*
 * Four chains of numbers, bound by latency, so that compilers make little difference. The
 * integers between them are for what such chains leave over of a core: with them it slows down,
 * as programs do, where another thread of the core works.
 */
static void arithmetic(long steps)
{
	double a = sink, b = a + 0.25, c = a + 0.5, d = a + 0.75;
	unsigned long k = (unsigned long)a, l = 2, m = 3, n = 4, p = 5, q = 6, r = 7, s = 8;

	for (long i = 0; i < steps; i++) {
		a = a * 0.5 + 1.0;
		b = b * 0.5 + 2.0;
		c = c * 0.5 + 3.0;
		d = d * 0.5 + 4.0;
		k += l;
		m += n;
		p += q;
		r += s;
		l ^= k >> 1;
		n ^= m >> 1;
		q ^= p >> 1;
		s ^= r >> 1;
	}
	sink = (a + b + c + d) * 0.0625 + (double)((k ^ m ^ p ^ r) & 1);
}

static void work(double us)
{
	static double arithmetic_owed;
	long steps;

	arithmetic_owed += us * ARITHMETIC_PER_US;
	steps = (long)arithmetic_owed;
	if (steps > 0) {
		arithmetic_owed -= (double)steps;
		arithmetic(steps);
	}
}

static void compute(double us)
{
	double begin;

	if (checking)
		return;
	if (us < TIMED_US) {
		work(us - CALL_US);
		computed_us += us;
		return;
	}
	begin = MPI_Wtime();
	us -= CLOCK_US;
	work(us);
	computed_us += (MPI_Wtime() - begin) * 1e6;
}

/* ---- Tables: what differs between ranks, or changes during the run ---- */

/* Values that are spread over the occurrences of a call, a row for each rank or one. */
struct series {
	int columns, by_row;
	long occurrences, now;
	const double *values;
};

static double next(struct series *series)
{
	const double *values = series->values;
	long column = series->now * series->columns / series->occurrences;

	series->now = series->now + 1 < series->occurrences ? series->now + 1 : 0;
	return values[column];
}

/* What answers say: how far all turns are, less than 1, and whether to come again. */
static struct {
	double part;
	int again;
} told;

/* The value of the part of the run that all have come to. */
static double now(const struct series *series)
{
	const double *values = series->values;

	return values[(long)(told.part * series->columns)];
}

/*
 * Whom a rank serves: where its partners stand and, for each stretch of turns, how many equal ones
 * follow each other and how often each partner comes in one.
 */
struct serving {
	int partners, stretches, shared;
	long turns;
	size_t room;
	const int *shift, *due;
};

/* clang-format off */
static const char *const section_names[] = {
	"rank 0: start", "rank 0: loop 1", "rank 0: end", "rank 1: loop 1", "rank 2: start",
	"rank 2: loop 1", "rank 2: end",
};
static struct series gap_0 = {3, 0, 3, 0, (const double[]){0.251, 0.199, 0.199}};
static const int shifts_1[2] = {1, 2};
static const int due_2[6] = {1, 8, 4, 1, 1, 0};
static struct series gap_3 = {3, 0, 3, 0, (const double[]){0.3115, 0.2986, 0.2986}};
static struct series gap_4 =
	{16, 0, 9, 0, (const double[]){0.1082, 0.1082, 0.1082, 0.1082, 0.1082, 0.1082, 0.1082,
	0.1082, 0.1082, 0.1082, 0.1082, 0.1082, 0.1082, 0.1082, 0.05096, 0.03462}};
static const struct serving serving_0 = {
	2, 2, 1, 13, 64, shifts_1, due_2,
};
/* clang-format on */

/* ---- Messages and requests ---- */

/* Nothing writes to `out`; in `in` calls that are active together have their own places. */
static char *out;
static char *in;

/* The rank of MPI_COMM_WORLD that stands `shift` places behind this one. */
static int peer(int shift)
{
	return (world.rank + shift + RANKS) % RANKS;
}

/*
 * Who is served, and who has come meanwhile. Of each partner how often it is still to come, or
 * whether at all where turns are shared. All turns so far, and those left in the stretch.
 */
static struct {
	int rank, place, came, seen, open, stretch, repeated;
	int due[2], who[2];
	long left, turn;
	MPI_Request coming[2];
	MPI_Status status[2];
	char *room, *answer;
} served;

static int served_rank(const struct serving *serving, const struct group *group, int at)
{
	return (group->rank + serving->shift[at] + group->size) % group->size;
}

static void begin_stretch(const struct serving *serving)
{
	const int *due = serving->due + (size_t)served.stretch * (serving->partners + 1);

	served.open = 0;
	for (int i = 0; i < serving->partners; i++) {
		served.due[i] = due[i + 1];
		served.left += due[i + 1];
		served.open += due[i + 1] > 0;
	}
	if (++served.repeated == due[0]) {
		served.repeated = 0;
		served.stretch = (served.stretch + 1) % serving->stretches;
	}
}

/*
 * Receive from whoever comes first. A stretch has as many turns as in the recording, and all its
 * partners have their last one in it: so nobody comes in vain or waits for ever.
 */
static void serve(const struct serving *serving, int count, MPI_Datatype type, int tag,
		  const struct group *group)
{
	int first = served.place, last = served.place;

	if (served.left == 0) {
		begin_stretch(serving);
		first = 0;
		last = serving->partners - 1;
	}
	for (int i = first; i <= last; i++)
		if (served.due[i])
			MPI_Irecv(served.room + i * serving->room, count, type,
				  served_rank(serving, group, i), tag, group->comm,
				  &served.coming[i]);
	if (served.seen == served.came) {
		MPI_Waitsome(serving->partners, served.coming, &served.came, served.who,
			     served.status);
		served.seen = 0;
	}
	served.place = served.who[served.seen++];
	served.rank = served_rank(serving, group, served.place);
	served.left--;
	served.turn++;
	if (!serving->shared)
		served.due[served.place]--;
	else if (served.left < served.open)
		served.due[served.place] = 0; /* what is left is for the others, one turn each */
	served.open -= !served.due[served.place];
}

/* Tell who is served how far all turns are, and whether to come again. */
static const char *answer(const struct serving *serving)
{
	int part = (int)(served.turn % serving->turns * 128 * 256 / serving->turns);
	int again = served.due[served.place] > 0;

	served.answer[0] = (char)(part % 256);
	served.answer[1] = (char)(part / 256 + again * 128);
	return served.answer;
}

static void hear(const char *answer)
{
	unsigned char low = (unsigned char)answer[0], high = (unsigned char)answer[1];

	told.again = high >> 7;
	told.part = (low + high % 128 * 256) / (128 * 256.0);
}

/* ---- The skeleton ---- */

/* Rank 0. */

/* Start: 0.8 % of the time. */
static void part_0_start(void)
{
	compute(0.69231);
	MPI_Send(out, 4, MPI_BYTE, peer(-1), 0, world.comm); /* app+0x1 */
}

/* Loop 1: 91.4 % of the time. */
static void part_0_loop_1(void)
{
	for (int i = 0; i < 12; i++) {
		compute(next(&gap_0));
		serve(&serving_0, 8, MPI_BYTE, 0, &world); /* app+0x2 */
		compute(next(&gap_3));
		MPI_Send(answer(&serving_0), 4, MPI_BYTE, served.rank, 0, world.comm); /* app+0x3 */
	}
}

/* End: 7.8 % of the time. */
static void part_0_end(void)
{
	compute(0.069231);
	MPI_Recv(in, 8, MPI_BYTE, peer(-1), 0, world.comm, MPI_STATUS_IGNORE); /* app+0x2 */
	compute(0.069231);
	serve(&serving_0, 8, MPI_BYTE, 0, &world); /* app+0x2 */
	compute(0.034615);
	MPI_Send(answer(&serving_0), 4, MPI_BYTE, served.rank, 0, world.comm); /* app+0x3 */
	compute(0.034615);
}

/* Rank 1. */

/* Loop 1: 100.0 % of the time. */
static void part_1_loop_1(void)
{
	for (int i = 0; i < 2; i++) {
		do {
			compute(48.077);
			MPI_Send(out, 8, MPI_BYTE, peer(-1), 0, world.comm); /* app+0x6 */
			compute(now(&gap_4));
			MPI_Recv(in, 4, MPI_BYTE, peer(-1), 0, world.comm, MPI_STATUS_IGNORE);
			hear(in);
		} while (told.again);
	}
}

/* Rank 2. */

/* Start: 0.0 % of the time. */
static void part_2_start(void)
{
	compute(0.09);
	MPI_Recv(in, 4, MPI_BYTE, peer(1), 0, world.comm, MPI_STATUS_IGNORE); /* app+0x5 */
}

/* Loop 1: 80.0 % of the time. */
static void part_2_loop_1(void)
{
	do {
		compute(81);
		MPI_Send(out, 8, MPI_BYTE, peer(1), 0, world.comm); /* app+0x6 */
		compute(0.09);
		MPI_Recv(in + 64, 4, MPI_BYTE, peer(1), 0, world.comm, MPI_STATUS_IGNORE);
		hear(in + 64);
	} while (told.again);
}

/* End: 20.0 % of the time. */
static void part_2_end(void)
{
	compute(81);
	MPI_Send(out + 64, 8, MPI_BYTE, peer(1), 0, world.comm); /* app+0x6 */
	compute(0.034615);
}

static double section_s[SECTIONS];

static void section(int number, void (*body)(void))
{
	double begin = MPI_Wtime();

	body();
	section_s[number] += MPI_Wtime() - begin;
}

/* Rank 0. */
static void part_0(void)
{
	section(0, part_0_start);
	section(1, part_0_loop_1);
	section(2, part_0_end);
}

/* Rank 1. */
static void part_1(void)
{
	section(3, part_1_loop_1);
}

/* Rank 2. */
static void part_2(void)
{
	section(4, part_2_start);
	section(5, part_2_loop_1);
	section(6, part_2_end);
}

/* ---- Set-up and report, outside the timed region ---- */

/* Memory of zeros, every page of it in place. */
static char *touched(size_t bytes)
{
	volatile char *memory = calloc(bytes, 1);

	if (memory == NULL) {
		fprintf(stderr, "skeleton: no memory for %zu bytes of messages\n", bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (size_t i = 0; i < bytes; i += PAGE)
		memory[i] = 0;
	return (char *)memory;
}

static void prepare(void)
{
	out = touched(192);
	in = touched(128);
	if (world.rank == 0) {
		served.room = touched(128);
		served.answer = touched(64);
	}
	for (int i = 0; i < 2; i++)
		served.coming[i] = MPI_REQUEST_NULL;
}

/* How long this rank has waited for a core that others had; -1: the system does not say. */
static double queued_s(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long ran_ns, queued_ns;
	int known;

	if (file == NULL)
		return -1.0;
	known = fscanf(file, "%llu %llu", &ran_ns, &queued_ns) == 2;
	fclose(file);
	return known ? (double)queued_ns * 1e-9 : -1.0;
}

static void print_times(const char *name, double (*times)[5], int column)
{
	printf("], \"%s\": [", name);
	for (int i = 0; i < RANKS; i++)
		printf("%s%.6f", i ? ", " : "", times[i][column]);
}

static void report(double setup_s, double own_s, double computed_s, double waited_s)
{
	static double times[RANKS][5], longest_s[SECTIONS];
	static char hosts[RANKS][MPI_MAX_PROCESSOR_NAME];
	char host[MPI_MAX_PROCESSOR_NAME] = "";
	double mine[5] = {own_s, setup_s, computed_s, own_s - computed_s, waited_s}, most[2];
	int length;

	MPI_Get_processor_name(host, &length);
	MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, world.comm);
	MPI_Reduce(section_s, longest_s, SECTIONS, MPI_DOUBLE, MPI_MAX, 0, world.comm);
	MPI_Gather(mine, 5, MPI_DOUBLE, times, 5, MPI_DOUBLE, 0, world.comm);
	MPI_Gather(host, sizeof(host), MPI_CHAR, hosts, sizeof(host), MPI_CHAR, 0, world.comm);
	if (world.rank)
		return;
	printf("{\"skeleton\": \"%s\", ", "master_worker");
	printf("\"format\": 1, \"scaling_factor\": 3, ");
	printf("\"ranks\": %d, \"seconds\": %.6f, \"setup_s\": %.6f, ", RANKS, most[0], most[1]);
	printf("\"sections\": [");
	for (int i = 0; i < SECTIONS; i++) {
		printf("%s{\"name\": \"%s\", ", i ? ", " : "", section_names[i]);
		printf("\"seconds\": %.6f}", longest_s[i]);
	}
	print_times("compute_s", times, 2);
	print_times("mpi_s", times, 3);
	print_times("queued_s", times, 4);
	printf("], \"hosts\": [");
	for (int i = 0; i < RANKS; i++)
		printf("%s\"%s\"", i ? ", " : "", hosts[i]);
	printf("]}\n");
}

/*
 * Let all ranks receive their last message before the first one enters MPI_Finalize: in MPICH
 * before 4.2 over UCX one that still receives then hangs there, and the others with it.
 */
static void before_finalize(void)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
	MPI_Comm node;
	int size;
	double end;

	MPI_Comm_split_type(world.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &size);
	MPI_Comm_free(&node);
	if (size == RANKS)
		return;
	MPI_Barrier(world.comm);
	for (end = MPI_Wtime() + 0.1; MPI_Wtime() < end;)
		;
#endif
}

int main(int argc, char **argv)
{
	double started, begin, own_s, queued_at_begin_s;

	MPI_Init(&argc, &argv);
	started = MPI_Wtime();
	world.comm = MPI_COMM_WORLD;
	MPI_Comm_rank(world.comm, &world.rank);
	MPI_Comm_size(world.comm, &world.size);
	if (world.size != RANKS) {
		if (world.rank == 0)
			fprintf(stderr, "skeleton: made for %d ranks, started with %d; use -n %d\n",
				RANKS, world.size, RANKS);
		MPI_Finalize();
		return 2;
	}
	checking = argc > 1 && strcmp(argv[1], "--check") == 0;
	prepare();
	queued_at_begin_s = queued_s();
	MPI_Barrier(world.comm);
	begin = MPI_Wtime();
	if (world.rank == 0)
		part_0();
	else if (world.rank == 1)
		part_1();
	else
		part_2();
	own_s = MPI_Wtime() - begin;
	report(begin - started, own_s, computed_us * 1e-6,
	       queued_at_begin_s < 0 ? -1.0 : queued_s() - queued_at_begin_s);
	before_finalize();
	MPI_Finalize();
	return 0;
}
