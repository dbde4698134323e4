/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often the program asks for its CPU time, and how far apart. Asked for it, Linux looks whether
 * the thread's slice is over, at once and not at its next tick: a program that asks thousands of
 * times a second loses its core earlier beside competitors, so a skeleton must ask as often. Calls
 * of MPI itself are not counted. clock_gettime is not, for clocks that show no CPU time are read
 * with it, too.
 *
 * Of ten queries in a row nine change nothing: what counts is for how long there is none. So the
 * lengths of the gaps between queries are counted as well, without the time in long calls, and
 * without what the process had no core for.
 */
#include "outside/cpu_time_queries.h"

#include "base/clock.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
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

/* Where there is none for longer, Linux looks at its ticks: so many gaps of this length [us]. */
#define LONGEST_GAP_US ((uint64_t)1 << (SKELGEN_QUERY_GAPS - 2))

/*
 * The length of the gap up to now [us]: there was no more computation than there was time outside
 * of long calls, nor more than the process had cores for.
 */
static uint64_t length_of_gap(const struct skelgen_queries *q, uint64_t now, uint64_t cpu_ns)
{
	uint64_t passed = now - q->last;
	uint64_t outside_us = passed > q->inside ? skelgen_us_of(passed - q->inside) : 0;
	uint64_t cpu_us = cpu_ns > q->cpu_ns ? (cpu_ns - q->cpu_ns) / 1000 : 0;

	return outside_us < cpu_us ? outside_us : cpu_us;
}

/* Count the gap up to now; of one that goes on only the parts that are over. */
static void count_gap(struct skelgen_queries *q, uint64_t now, uint64_t cpu_ns, bool over)
{
	uint64_t us = length_of_gap(q, now, cpu_ns);
	uint64_t rest = us % LONGEST_GAP_US;

	q->gaps[SKELGEN_QUERY_GAPS - 1] += us / LONGEST_GAP_US;
	if (over)
		q->gaps[rest ? 64 - __builtin_clzll(rest) : 0]++;
}

/* Count a query, when it was made [units] and what it answered. */
static void answered(uint64_t asked, uint64_t cpu_ns)
{
	struct skelgen_stream *s = skelgen_current;

	if (!s)
		return;
	if (!skelgen.paused) {
		s->queries.count++;
		count_gap(&s->queries, asked, cpu_ns, true);
	}
	s->queries.last = skelgen_now(); /* what a query takes is no part of a gap */
	s->queries.cpu_ns = cpu_ns;
	s->queries.inside = 0;
}

SKELGEN_EXPORT int getrusage(who_t who, struct rusage *usage)
{
	static void *known;
	int (*real)(who_t, struct rusage *);
	uint64_t asked;
	int found;

	*(void **)&real = skelgen_behind(&known, "getrusage");
	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	if (who != RUSAGE_SELF) /* of the thread alone Linux tells what it last noted */
		return real(who, usage);
	asked = skelgen_now();
	found = real(who, usage);
	if (!found)
		answered(asked,
			 skelgen_timeval_ns(usage->ru_utime) + skelgen_timeval_ns(usage->ru_stime));
	return found;
}

SKELGEN_EXPORT clock_t clock(void)
{
	static void *known;
	clock_t (*real)(void);
	uint64_t asked;
	clock_t found;

	*(void **)&real = skelgen_behind(&known, "clock");
	asked = skelgen_now();
	found = real ? real() : (clock_t)-1;
	if (found != (clock_t)-1)
		answered(asked, (uint64_t)found * (1000000000 / CLOCKS_PER_SEC));
	return found;
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
	uint64_t asked;
	clock_t found;

	*(void **)&real = skelgen_version_behind(&known, "times", TIMES_VERSION);
	if (!real) {
		errno = ENOSYS;
		return (clock_t)-1;
	}
	asked = skelgen_now();
	found = real(used);
	answered(asked, skelgen_process_cpu_ns()); /* its own answer is in hundredths of a second */
	return found;
}

__asm__(".symver skelgen_times, times@" TIMES_VERSION);
#endif

/* Write what a stream's thread asked, if it did. */
void skelgen_queries_write(struct skelgen_stream *s)
{
	struct skelgen_queries *q = &s->queries;
	uint8_t payload[10 * (1 + SKELGEN_QUERY_GAPS)];
	uint8_t *p = skelgen_put_varint(payload, q->count);

	if (!q->count)
		return;
	count_gap(q, skelgen_now(), skelgen_process_cpu_ns(), false);
	for (size_t i = 0; i < SKELGEN_QUERY_GAPS; i++)
		p = skelgen_put_varint(p, q->gaps[i]);
	skelgen_define(s, SKELGEN_REC_USAGE, payload, (size_t)(p - payload));
}
