/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks: which one, and how fast it runs. */
#ifndef SKELGEN_CLOCK_H
#define SKELGEN_CLOCK_H

#include "base/state.h"

#include <sys/time.h>

uint64_t skelgen_monotonic_ns(void);
uint64_t skelgen_thread_cpu_ns(void);
uint64_t skelgen_process_cpu_ns(void);
void skelgen_clock_choose(void);
void skelgen_clock_calibrate(uint64_t ticks0, uint64_t ns0, uint64_t ticks1, uint64_t ns1);
void skelgen_clock_pair(uint64_t *ticks, uint64_t *ns);

/* GCC and Clang have the builtin; the header for it is 50,000 lines, in each of 40 sources. */
SKELGEN_INLINE uint64_t skelgen_ticks(void)
{
#if defined(__x86_64__)
	if (likely(skelgen.use_tsc))
		return __builtin_ia32_rdtsc();
#endif
	return skelgen_monotonic_ns();
}

SKELGEN_INLINE uint64_t skelgen_now(void)
{
	return skelgen_ticks() >> skelgen.shift;
}

SKELGEN_INLINE uint64_t skelgen_timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

/* From units of time [us]. */
SKELGEN_INLINE uint64_t skelgen_us_of(uint64_t units)
{
	return (uint64_t)((double)(units << skelgen.shift) * 1e6 / (double)skelgen.ticks_per_s);
}

/* The time now, where the time stamp counter is trusted (skelgen.use_tsc). */
SKELGEN_INLINE uint64_t skelgen_tsc(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc() >> skelgen.shift;
#else
	return skelgen_now();
#endif
}

#endif
