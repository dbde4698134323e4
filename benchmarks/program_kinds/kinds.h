/*
 * What the programs of this folder share: computation of a fixed amount, and arguments.
 *
 * Work is arithmetic in registers, so that its time does not depend on caches. Its unit is
 * about a microsecond on a core of 2.6 GHz.
 */
#ifndef KINDS_H
#define KINDS_H
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_OF_UNIT = 320 };

static volatile double kept = 1.0;

static inline void work(double units)
{
	double x = kept;

	for (long left = (long)(units * STEPS_OF_UNIT); left > 0; left--)
		x = x * 0.999999 + 1e-6;
	kept = x;
}

/* Return the argument at a place, or what it is without one. */
static inline int argument(int argc, char **argv, int place, int otherwise)
{
	return place < argc ? atoi(argv[place]) : otherwise;
}

static inline void *memory(size_t bytes)
{
	void *block = calloc(bytes ? bytes : 1, 1);

	if (block == NULL) {
		fprintf(stderr, "no memory\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return block;
}

static unsigned long chance = 1;

/* Begin the numbers of any_below, other ones on each rank. */
static inline void begin_chance(int rank)
{
	chance = 88172645463325252UL + 2654435761UL * (unsigned long)rank;
}

/* Return a number from 0, the next of a fixed sequence. */
static inline int any_below(int limit)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (int)(chance >> 33) % limit;
}

/* Exchange bytes with both neighbours on a ring of the ranks. */
static inline void exchange(char *out, char *in, int bytes, int rank, int ranks, int tag)
{
	MPI_Request request[4];
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	MPI_Irecv(in, bytes, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request[0]);
	MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, tag + 1, MPI_COMM_WORLD, &request[1]);
	MPI_Isend(out, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, &request[2]);
	MPI_Isend(out, bytes, MPI_BYTE, left, tag + 1, MPI_COMM_WORLD, &request[3]);
	MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

/* Agree on a sum, as solvers do for residuals. */
static inline double agree(double mine)
{
	double sum = 0.0;

	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

#endif
