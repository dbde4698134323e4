/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a recorded call cost? Blocks of three kinds take turns in one process: plain calls
 * (PMPI_), calls through the recorder (MPI_), and calls through the least that any recorder does
 * (recorder_floor.h).
 *
 * recorder_calls CASE FOLDER BLOCKS CALLS prints for each block: kind, nanoseconds for each
 * call; at the end "memory", KiB, and "finalize", nanoseconds. Cases are those of recorder_cases.h;
 * with "threads-" before it a case runs in four threads at once under MPI_THREAD_MULTIPLE.
 */
#define _GNU_SOURCE
#include "../tests/shim/resident.h"
#include "recorder_floor.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, HALO = 64, MANY = 4096 };
enum kind { PLAIN, RECORDED, FLOOR_KIND, KINDS };
static const char *const kinds[] = {"plain", "recorded", "floor"};

static int rank;
static int ranks;
static __thread double buffer[2];
static __thread double halo[8][HALO];
static char many[MANY];
static char more[MANY];

#define NOINLINE __attribute__((noinline))

/* A number below n, of an even stream of them. */
static inline int any_of(uint32_t n)
{
	static __thread uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 32) * n >> 32);
}

/* The blocks of a mesh whose sides are exchanged, and what moves between two ranks. */
enum { BLOCKS = 24 };
struct mesh {
	int blocks;
	int tag[BLOCKS];
	int size[BLOCKS];
	int counts[2];
	int places[2];
};

/* Others take their place: the same on all ranks. */
static void refine(struct mesh *mesh)
{
	mesh->blocks = BLOCKS / 3 + any_of(2 * BLOCKS / 3);
	for (int b = 0; b < mesh->blocks; b++) {
		mesh->tag[b] = any_of(30000);
		mesh->size[b] = any_of(MANY / 4);
	}
	for (int r = 0; r < 2; r++) {
		mesh->counts[r] = any_of(MANY / 4);
		mesh->places[r] = r * MANY / 4;
	}
	mesh->counts[1] = mesh->counts[0]; /* what one rank sends the other receives */
}

/* This rank's half of the grid of examples/heat2d.c with 256 x 256 points, and its computation. */
enum { ROWS = 128, COLUMNS = 256 };
static double grid[2][ROWS + 2][COLUMNS + 2];
static double change;

static NOINLINE void relax(void)
{
	static int now;

	change = 0.0;
	for (int i = 1; i <= ROWS; i++) {
		for (int j = 1; j <= COLUMNS; j++) {
			double value = 0.25 * (grid[now][i - 1][j] + grid[now][i + 1][j] +
					       grid[now][i][j - 1] + grid[now][i][j + 1]);

			change = fmax(change, fabs(value - grid[now][i][j]));
			grid[!now][i][j] = value;
		}
	}
	now = !now;
}

#define CALL(name) PMPI_##name
#define CASE(name) plain_##name
#include "recorder_cases.h"
#undef CALL
#undef CASE
#define CALL(name) MPI_##name
#define CASE(name) recorded_##name
#include "recorder_cases.h"
#undef CALL
#undef CASE
#define CALL(name) floor_##name
#define CASE(name) floor_##name##_case
#include "recorder_cases.h"

#define ROW(name)                                                          \
	{                                                                  \
		#name,                                                     \
		{                                                          \
			plain_##name, recorded_##name, floor_##name##_case \
		}                                                          \
	}

static const struct row {
	const char *name;
	void (*work[KINDS])(int calls);
} rows[] = {
	ROW(send),     ROW(allreduce), ROW(request), ROW(wildcard),
	ROW(iprobe),   ROW(polls),     ROW(halo),    ROW(step),
	ROW(pingpong), ROW(tags),      ROW(sizes),   ROW(both),
	ROW(sites),    ROW(anything),  ROW(amr),     {NULL, {NULL, NULL, NULL}},
};

static struct {
	const struct row *row;
	const char *folder;
	int blocks;
	int calls;
	int threads;
	pthread_barrier_t barrier;
} run;

/* CPU time of all threads: what other programs take does not count. */
static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The first block of each kind only warms up. */
static void *measure(void *number)
{
	int thread = (int)(intptr_t)number;

	floor_open(run.folder, rank * THREADS + thread);
	for (int block = 0; block <= run.blocks; block++) {
		for (int k = 0; k < KINDS; k++) {
			enum kind kind = (enum kind)((k + block) % KINDS);
			double begin;

			pthread_barrier_wait(&run.barrier);
			begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
			run.row->work[kind](run.calls);
			pthread_barrier_wait(&run.barrier);
			if (rank == 0 && thread == 0 && block > 0)
				printf("%s %.3f\n", kinds[kind],
				       (now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / run.calls /
					       run.threads);
		}
	}
	return NULL;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, measure, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int level;
	const char *name = argc == 5 ? argv[1] : "";
	double begin;

	if (argc != 5)
		return 2;
	run.threads = strncmp(name, "threads-", 8) == 0 ? THREADS : 1;
	name += run.threads > 1 ? 8 : 0;
	run.folder = argv[2];
	run.blocks = atoi(argv[3]);
	run.calls = atoi(argv[4]);
	for (run.row = rows; run.row->name && strcmp(run.row->name, name) != 0; run.row++)
		;
	if (!run.row->name)
		return 2;
	pthread_barrier_init(&run.barrier, NULL, (unsigned)run.threads);
	MPI_Init_thread(&argc, &argv, run.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&level);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (run.threads > 1)
		in_threads();
	else
		measure(NULL);
	if (rank == 0)
		printf("memory %ld\n", resident_kib());
	PMPI_Barrier(MPI_COMM_WORLD);
	begin = now_ns(CLOCK_MONOTONIC);
	MPI_Finalize();
	if (rank == 0)
		printf("finalize %.0f\n", now_ns(CLOCK_MONOTONIC) - begin);
	return 0;
}
