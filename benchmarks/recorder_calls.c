/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a recorded call cost? Blocks of three kinds take turns in one process: plain calls
 * (PMPI_), calls through the recorder (MPI_), and plain calls with the least that any recorder
 * does around them: two readings of the time stamp counter, three varints, a shared mapping.
 *
 * recorder_calls FILE BLOCKS CALLS prints one line for each block:
 * what kind nanoseconds-per-call.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define WINDOW ((size_t)1 << 20)

enum kind { PLAIN, RECORDED, FLOOR, KINDS };
static const char *const kinds[] = {"plain", "recorded", "floor"};

static int file;
static uint8_t *window;
static uint8_t *next_byte;
static off_t offset;
static uint64_t last;

static int rank;
static double buffer[2];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void move_window(void)
{
	if (window)
		munmap(window, WINDOW);
	if (ftruncate(file, offset + (off_t)WINDOW))
		exit(1);
	window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
	if (window == MAP_FAILED)
		exit(1);
	offset += (off_t)WINDOW;
	next_byte = window;
}

static inline uint8_t *varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

static inline void note(uint64_t begin, uint64_t end)
{
	uint8_t *p = next_byte;

	p = varint(p, 1);
	p = varint(p, begin - last);
	p = varint(p, end - begin);
	last = end;
	next_byte = p;
	if (p > window + WINDOW - 64)
		move_window();
}

#define FLOOR_CALL(call)                                                                           \
	do {                                                                                       \
		uint64_t begin_ = __rdtsc();                                                       \
		call;                                                                              \
		note(begin_, __rdtsc());                                                           \
	} while (0)

static void send_null(enum kind kind, int calls)
{
	for (int i = 0; i < calls; i++) {
		if (kind == PLAIN)
			PMPI_Send(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
		else if (kind == RECORDED)
			MPI_Send(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
		else
			FLOOR_CALL(PMPI_Send(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0,
					     MPI_COMM_WORLD));
	}
}

static void allreduce_self(enum kind kind, int calls)
{
	for (int i = 0; i < calls; i++) {
		if (kind == PLAIN)
			PMPI_Allreduce(buffer, buffer + 1, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
		else if (kind == RECORDED)
			MPI_Allreduce(buffer, buffer + 1, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
		else
			FLOOR_CALL(PMPI_Allreduce(buffer, buffer + 1, 1, MPI_DOUBLE, MPI_SUM,
						  MPI_COMM_SELF));
	}
}

/* Two calls: a request and its completion. */
static void request_null(enum kind kind, int calls)
{
	MPI_Request request;

	for (int i = 0; i < calls; i += 2) {
		if (kind == PLAIN) {
			PMPI_Irecv(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
				   &request);
			PMPI_Wait(&request, MPI_STATUS_IGNORE);
		} else if (kind == RECORDED) {
			MPI_Irecv(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
				  &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else {
			FLOOR_CALL(PMPI_Irecv(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0,
					      MPI_COMM_WORLD, &request));
			FLOOR_CALL(PMPI_Wait(&request, MPI_STATUS_IGNORE));
		}
	}
}

/* Eight bytes there and back: four calls follow each other, two on each rank. */
static void ping_pong(enum kind kind, int calls)
{
	int first = rank == 0;

	for (int i = 0; i < calls; i += 4) {
		for (int turn = 0; turn < 2; turn++) {
			if ((turn == 0) == first) {
				if (kind == PLAIN)
					PMPI_Send(buffer, 1, MPI_DOUBLE, 1 - rank, 0,
						  MPI_COMM_WORLD);
				else if (kind == RECORDED)
					MPI_Send(buffer, 1, MPI_DOUBLE, 1 - rank, 0,
						 MPI_COMM_WORLD);
				else
					FLOOR_CALL(PMPI_Send(buffer, 1, MPI_DOUBLE, 1 - rank, 0,
							     MPI_COMM_WORLD));
			} else {
				if (kind == PLAIN)
					PMPI_Recv(buffer, 1, MPI_DOUBLE, 1 - rank, 0,
						  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				else if (kind == RECORDED)
					MPI_Recv(buffer, 1, MPI_DOUBLE, 1 - rank, 0,
						 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				else
					FLOOR_CALL(PMPI_Recv(buffer, 1, MPI_DOUBLE, 1 - rank, 0,
							     MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			}
		}
	}
}

static void measure(const char *what, void (*work)(enum kind, int), int blocks, int calls)
{
	for (int block = 0; block < blocks; block++) {
		for (int k = 0; k < KINDS; k++) {
			enum kind kind = (enum kind)((k + block) % KINDS);
			double begin = now_ns();

			work(kind, calls);
			if (rank == 0 && block > 0)
				printf("%s %s %.3f\n", what, kinds[kind],
				       (now_ns() - begin) / calls);
		}
	}
}

int main(int argc, char **argv)
{
	int size;
	int blocks = argc > 2 ? atoi(argv[2]) : 100;
	int calls = argc > 3 ? atoi(argv[3]) : 2000;

	MPI_Init(&argc, &argv);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 2)
		return 2;
	file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file < 0)
		return 1;
	unlink(argv[1]);
	move_window();
	if (size == 1) {
		measure("send", send_null, blocks, calls);
		measure("allreduce", allreduce_self, blocks, calls);
		measure("request", request_null, blocks, calls);
	} else {
		measure("pingpong", ping_pong, blocks, calls);
	}
	MPI_Finalize();
	return 0;
}
