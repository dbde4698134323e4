/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often the program asks for its CPU time. Asked for it, Linux looks whether the thread's slice
 * is over, at once and not at its next tick: a program that asks thousands of times a second loses
 * its core earlier beside competitors, so a skeleton must ask as often. Calls of MPI itself are not
 * counted. clock_gettime is not, for clocks that show no CPU time are read with it, too.
 */
#include "outside/cpu_time_queries.h"

#include "outside/function_behind.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>

#ifdef __GLIBC__
typedef __rusage_who_t who_t;
#else
typedef int who_t;
#endif

static uint64_t asked;

static void count(void)
{
	if (skelgen_current && !skelgen.paused)
		__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
}

SKELGEN_EXPORT int getrusage(who_t who, struct rusage *usage)
{
	static void *known;
	int (*real)(who_t, struct rusage *);

	*(void **)&real = skelgen_behind(&known, "getrusage");
	if (who == RUSAGE_SELF) /* of the thread alone Linux tells what it last noted */
		count();
	if (real)
		return real(who, usage);
	errno = ENOSYS;
	return -1;
}

SKELGEN_EXPORT clock_t clock(void)
{
	static void *known;
	clock_t (*real)(void);

	*(void **)&real = skelgen_behind(&known, "clock");
	count();
	return real ? real() : (clock_t)-1;
}

/*
 * Programs and libraries may have something else of the name times. So ours bears the version that
 * glibc's has, and is hidden from all who ask for no version: it is found by those alone who were
 * linked with glibc's. symbol_versions.txt has the versions.
 */
#if defined(__GLIBC__) && defined(__x86_64__)
#define TIMES_VERSION "GLIBC_2.2.5"
#elif defined(__GLIBC__) && (defined(__aarch64__) || defined(__PPC64__))
#define TIMES_VERSION "GLIBC_2.17"
#endif

#ifdef TIMES_VERSION
SKELGEN_EXPORT clock_t skelgen_times(struct tms *used)
{
	static void *known;
	clock_t (*real)(struct tms *);

	*(void **)&real = skelgen_version_behind(&known, "times", TIMES_VERSION);
	count();
	if (real)
		return real(used);
	errno = ENOSYS;
	return (clock_t)-1;
}

__asm__(".symver skelgen_times, times@" TIMES_VERSION);
#endif

/* Calls while this run was recorded; the next run counts from 0. */
uint64_t skelgen_usage_asked(void)
{
	return __atomic_exchange_n(&asked, 0, __ATOMIC_RELAXED);
}
