/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least that any recorder does: a function around the call, two readings of the time stamp
 * counter, a byte for what was called, gap and duration as varints in units of 16 ticks, into
 * a shared mapping. It tells no two calls apart; what it costs bounds what recording can cost.
 */
#ifndef RECORDER_FLOOR_H
#define RECORDER_FLOOR_H

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#define FLOOR_WINDOW ((size_t)1 << 20)
#define FLOOR_UNIT 4 /* log2 of ticks */

struct floor_file {
	uint8_t *write;
	uint8_t *limit;
	uint64_t last;
	uint8_t *window;
	off_t offset;
	int file;
};

static __thread struct floor_file floor_file;

static void floor_move(struct floor_file *f)
{
	if (f->window)
		munmap(f->window, FLOOR_WINDOW);
	if (ftruncate(f->file, f->offset + (off_t)FLOOR_WINDOW))
		exit(1);
	f->window =
		mmap(NULL, FLOOR_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, f->file, f->offset);
	if (f->window == MAP_FAILED)
		exit(1);
	f->offset += (off_t)FLOOR_WINDOW;
	f->write = f->window;
	f->limit = f->window + FLOOR_WINDOW - 64;
}

/* Each thread opens its own file. */
static void floor_open(const char *folder, int number)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/floor-%d", folder, number);
	floor_file = (struct floor_file){.file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600)};
	if (floor_file.file < 0)
		exit(1);
	unlink(path);
	floor_move(&floor_file);
}

static inline uint8_t *floor_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

static inline uint64_t floor_now(void)
{
	return __rdtsc() >> FLOOR_UNIT;
}

static inline void floor_note(uint64_t begin, uint64_t end, uint8_t what)
{
	uint8_t *p = floor_file.write;

	*p++ = what;
	p = floor_varint(p, begin - floor_file.last);
	p = floor_varint(p, end - begin);
	floor_file.last = end;
	floor_file.write = p;
	if (p > floor_file.limit)
		floor_move(&floor_file);
}

/* Through a pointer, as every wrapper that finds the real function at run time. */
#define FLOOR(number, name, parameters, arguments)                                \
	static __typeof__(&PMPI_##name) volatile floor_real_##name = PMPI_##name; \
	static __attribute__((noinline)) int floor_##name parameters              \
	{                                                                         \
		uint64_t begin = floor_now();                                     \
		int code = floor_real_##name arguments;                           \
                                                                                  \
		floor_note(begin, floor_now(), number);                           \
		return code;                                                      \
	}

FLOOR(1, Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
      (b, n, t, to, tag, c))
FLOOR(2, Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
      (b, n, t, from, tag, c, s))
FLOOR(3, Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
      (b, n, t, to, tag, c, r))
FLOOR(4, Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
      (b, n, t, from, tag, c, r))
FLOOR(5, Wait, (MPI_Request * r, MPI_Status *s), (r, s))
FLOOR(6, Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
FLOOR(7, Iprobe, (int from, int tag, MPI_Comm c, int *flag, MPI_Status *s), (from, tag, c, flag, s))
FLOOR(8, Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
      (a, b, n, t, op, c))
FLOOR(9, Waitany, (int n, MPI_Request *r, int *which, MPI_Status *s), (n, r, which, s))
FLOOR(10, Alltoallv,
      (const void *a, const int *n, const int *at, MPI_Datatype t, void *b, const int *m,
       const int *to, MPI_Datatype u, MPI_Comm c),
      (a, n, at, t, b, m, to, u, c))
FLOOR(11, Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *new), (c, color, key, new))
FLOOR(12, Comm_free, (MPI_Comm * c), (c))
FLOOR(13, Type_vector, (int n, int length, int stride, MPI_Datatype t, MPI_Datatype *new),
      (n, length, stride, t, new))
FLOOR(14, Type_commit, (MPI_Datatype * t), (t))
FLOOR(15, Type_free, (MPI_Datatype * t), (t))
FLOOR(16, Test, (MPI_Request * r, int *flag, MPI_Status *s), (r, flag, s))

#endif
