/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What only the generated Fortran wrappers use. Such a wrapper passes the program's own arguments
 * on to the library's Fortran function and translates them for the record alone, so that what
 * stands in it else is the text of the C wrapper.
 */
#ifndef SKELGEN_FORTRAN_H
#define SKELGEN_FORTRAN_H

#include "wrappers/wrap.h"

/*
 * Fortran's constants without a value, such as MPI_IN_PLACE, are variables that the library knows
 * by their addresses; mpif.h and mpi_f08 can have different ones.
 */
extern struct skelgen_sentinels {
	const void *in_place[2];
	const void *ignore[4]; /* MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE */
} skelgen_sentinels;

void *skelgen_fortran_look_up(void **address, const char *name);
void skelgen_hold_fortran(struct skelgen_stream *s, size_t n, const MPI_Fint requests[]);
void skelgen_gone_fortran(struct skelgen_stream *s, size_t n, const MPI_Fint requests[],
			  const MPI_Status statuses[], int code);
void skelgen_trimmed(char *text, size_t room, const char *padded, size_t length);
const MPI_Datatype *skelgen_types_f2c(struct skelgen_stream *s, const MPI_Fint types[], size_t n);

/* The library's own function; looked up at its first call, for a C program may never make one. */
SKELGEN_INLINE void *skelgen_fortran_real(void **address, const char *name)
{
	void *known = __atomic_load_n(address, __ATOMIC_ACQUIRE);

	return likely(known) ? known : skelgen_fortran_look_up(address, name);
}

/* The index of the first request: mpi_f08 of MPICH 4.0 forgot to count from one. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40100000
#define SKELGEN_FIRST_F08 0
#else
#define SKELGEN_FIRST_F08 1
#endif

#define SKELGEN_FORTRAN_REAL(wrapper, name) \
	static void *address;               \
	__typeof__(wrapper) *real =         \
		(__typeof__(wrapper) *)(uintptr_t)skelgen_fortran_real(&address, name)

SKELGEN_INLINE const void *skelgen_buffer(const void *buffer)
{
	const void *const *in_place = skelgen_sentinels.in_place;

	return buffer == in_place[0] || buffer == in_place[1] ? MPI_IN_PLACE : buffer;
}

/* A buffer of mpi_f08 is a C descriptor where the compiler can; its first member is the address. */
SKELGEN_INLINE const void *skelgen_described(const void *descriptor)
{
	return skelgen_buffer(*(void *const *)descriptor);
}

/* Both families' statuses are the same numbers in C and Fortran where integers are ints. */
SKELGEN_INLINE MPI_Status *skelgen_statuses(void *statuses, MPI_Status *none)
{
	const void *const *ignore = skelgen_sentinels.ignore;

	if (statuses == ignore[0] || statuses == ignore[1] || statuses == ignore[2] ||
	    statuses == ignore[3])
		return none;
	return statuses;
}

/* What the texts of the C wrappers call, for arguments as Fortran has them. */
#define skelgen_hold(s, n, requests) skelgen_hold_fortran(s, n, requests)
#define skelgen_gone(s, n, requests, statuses, code) \
	skelgen_gone_fortran(s, n, requests, statuses, code)
#define skelgen_comm_promise(s, parent, where) skelgen_comm_promise_fortran(s, parent, where)
#undef skelgen_counted_bytes
#define skelgen_counted_bytes(s, counts, types, n, ranks, flags)                          \
	_Generic((counts), const int *: skelgen_bytes_int, default: skelgen_bytes_large)( \
		s, counts, skelgen_types_f2c(s, types, n), n, ranks, flags)

#endif
