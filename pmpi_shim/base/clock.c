/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks: which one, and how fast it runs. */
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t skelgen_monotonic_ns(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

uint64_t skelgen_thread_cpu_ns(void)
{
	return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t skelgen_process_cpu_ns(void)
{
	return ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

#if defined(__x86_64__)
/* The time stamp counter runs evenly, and the kernel trusts it across cores. */
static bool tsc_is_trusted(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d = 0;
	char source[32] = "";
	FILE *file;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;
	file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (!file)
		return false;
	if (!fgets(source, sizeof(source), file))
		source[0] = 0;
	fclose(file);
	return strncmp(source, "tsc", 3) == 0;
}
#else
static bool tsc_is_trusted(void)
{
	return false;
}
#endif

/* Choose the clock; until it is calibrated times are in ticks. */
void skelgen_clock_choose(void)
{
	skelgen.use_tsc = !skelgen.prefer_monotonic && tsc_is_trusted();
	skelgen.shift = 0;
	skelgen.long_gap = SKELGEN_LONGEST;
}

/* From two readings of both clocks: the frequency, and units of 4 to 8 ns. */
void skelgen_clock_calibrate(uint64_t ticks0, uint64_t ns0, uint64_t ticks1, uint64_t ns1)
{
	double per_ns = ns1 > ns0 ? (double)(ticks1 - ticks0) / (double)(ns1 - ns0) : 1.0;

	if (!skelgen.use_tsc)
		per_ns = 1.0;
	skelgen.ticks_per_s = (uint64_t)(per_ns * 1e9);
	skelgen.shift = 0;
	while ((double)(2u << skelgen.shift) <= 8.0 * per_ns)
		skelgen.shift++;
	skelgen.long_gap = (uint64_t)(SKELGEN_LONG_GAP_NS * per_ns) >> skelgen.shift;
	skelgen.polling_gap = skelgen.long_gap;
	if (!skelgen.sampling)
		skelgen.long_gap = SKELGEN_LONGEST;
}

/*
 * Read both clocks at the same time: one stands between two readings of the other. The closest
 * pair counts, for the thread may lose its core meanwhile.
 */
void skelgen_clock_pair(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = skelgen_ticks();
		uint64_t now = skelgen_monotonic_ns();
		uint64_t after = skelgen_ticks();

		if (after - before >= best)
			continue;
		best = after - before;
		*ticks = before + best / 2;
		*ns = now;
	}
}
