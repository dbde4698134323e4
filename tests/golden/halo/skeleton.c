/*
 * Performance skeleton of halo on 4 ranks, 1/4 of its time.
 * Written by skelgen 0.1.0. Plain C and MPI:
 *
 *	make && mpirun -n 4 ./skeleton
 *
 * It repeats a part of the application's calls, with its messages and computation, and
 * prints one line of JSON: its time in seconds, whole, by section and by rank. With the
 * argument --check it leaves out the computation.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, SECTIONS = 1, PAGE = 4096 };

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

/* clang-format off */
static const char *const section_names[] = {"loop 1"};
/* clang-format on */

/* ---- Messages and requests ---- */

/* Nothing writes to `out`; in `in` calls that are active together have their own places. */
static char *out;
static char *in;
static MPI_Request request[4];
static MPI_Status status[4];
static MPI_Datatype holes_8;

/* The rank of MPI_COMM_WORLD that stands `shift` places behind this one. */
static int peer(int shift)
{
	return (world.rank + shift + RANKS) % RANKS;
}

/* ---- The skeleton ---- */

/* Loop 1: 99.9 % of the time. */
static void loop_1(void)
{
	for (int i = 0; i < 5; i++) {
		/* 99.7 % of the time */
		for (int j = 0; j < 5; j++) {
			compute(0.69732);
			MPI_Irecv(in + 64, 500, holes_8, peer(-1), 0, world.comm, &request[0]);
			compute(0.099617);
			MPI_Irecv(in + 8064, 4000, MPI_BYTE, peer(1), 0, world.comm, &request[1]);
			compute(0.29885);
			MPI_Isend(out, 500, holes_8, peer(1), 0, world.comm, &request[2]);
			compute(0.099617);
			MPI_Isend(out + 8000, 4000, MPI_BYTE, peer(-1), 0, world.comm, &request[3]);
			compute(249.04);
			MPI_Waitall(4, &request[0], status); /* app+0x6 */
			compute(119.54);
			MPI_Barrier(world.comm); /* app+0x7 */
		}
		compute(3.9847);
		MPI_Allreduce(out + 12032, in, 1, MPI_DOUBLE, MPI_MAX, world.comm); /* app+0x8 */
	}
	compute(7.6954);
}

static double section_s[SECTIONS];

static void section(int number, void (*body)(void))
{
	double begin = MPI_Wtime();

	body();
	section_s[number] += MPI_Wtime() - begin;
}

static void part_0(void)
{
	section(0, loop_1);
}

/* ---- Set-up and report, outside the timed region ---- */

/* Blocks with holes as wide between them, for messages that MPI gathers in memory. */
static MPI_Datatype with_holes(int bytes)
{
	MPI_Datatype block, type;

	MPI_Type_contiguous(bytes, MPI_BYTE, &block);
	MPI_Type_create_resized(block, 0, 2 * (MPI_Aint)bytes, &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&block);
	return type;
}

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
	holes_8 = with_holes(8);
	out = touched(12096);
	in = touched(12096);
	for (int i = 0; i < 4; i++)
		request[i] = MPI_REQUEST_NULL;
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
	printf("{\"skeleton\": \"%s\", ", "halo");
	printf("\"format\": 1, \"scaling_factor\": 4, ");
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
	part_0();
	own_s = MPI_Wtime() - begin;
	report(begin - started, own_s, computed_us * 1e-6,
	       queued_at_begin_s < 0 ? -1.0 : queued_s() - queued_at_begin_s);
	before_finalize();
	MPI_Finalize();
	return 0;
}
