/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks: which one, how fast it runs, and how far apart those of different hosts are. */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define LONG_GAP_NS 50000
/* Exchanges go on until so many have brought nothing better. */
#define PING_PONGS 20
#define MOST_PING_PONGS 200
#define PING_TAG 1

uint64_t skelgen_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t skelgen_thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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
	skelgen.long_gap = (uint64_t)(LONG_GAP_NS * per_ns) >> skelgen.shift;
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

/* Note what all clocks read at the same time. */
void skelgen_clock_record(struct skelgen_stream *s, enum skelgen_clock_place place)
{
	uint8_t payload[64];
	uint8_t *p = payload;
	struct timespec wall;
	uint64_t ticks;
	uint64_t ns;

	skelgen_clock_pair(&ticks, &ns);
	clock_gettime(CLOCK_REALTIME, &wall);
	p = skelgen_put_varint(p, place);
	p = skelgen_put_varint(p, ticks);
	p = skelgen_put_varint(p, ns);
	p = skelgen_put_varint(p, (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec);
	p = skelgen_put_varint(p, skelgen_thread_cpu_ns());
	skelgen_define(s, SKELGEN_REC_CLOCK, payload, (size_t)(p - payload));
}

/*
 * Offsets. One rank of each host (its smallest) exchanges messages with rank 0; the fastest
 * exchange bounds the error by half its time.
 */
static MPI_Comm private_comm;
static uint64_t *hosts;
static int *leaders;     /* world ranks of the hosts' leaders */
static int leader_count; /* 0: all ranks share one clock */

/* Room for what skelgen_clock_compare gathers. */
bool skelgen_clock_prepare(int size)
{
	hosts = malloc((size_t)size * sizeof(*hosts));
	leaders = malloc((size_t)size * sizeof(*leaders));
	return hosts && leaders;
}

/* Collective: find the leaders and make a communicator for the exchange. */
void skelgen_clock_compare(bool several_hosts, uint64_t host)
{
	if (several_hosts) {
		pmpi.Allgather(&host, sizeof(host), MPI_BYTE, hosts, sizeof(host), MPI_BYTE,
			       mpi.comm_world);
		for (int i = 0; i < skelgen.size; i++) {
			int j = 0;

			while (hosts[j] != hosts[i])
				j++;
			if (j == i)
				leaders[leader_count++] = i;
		}
		pmpi.Comm_dup(mpi.comm_world, &private_comm);
	}
	free(hosts);
	hosts = NULL;
}

/* Answer one rank until it says that it knows enough. */
static void answer(int from)
{
	for (;;) {
		uint64_t now;

		pmpi.Recv(&now, sizeof(now), MPI_BYTE, from, PING_TAG, private_comm,
			  MPI_STATUS_IGNORE);
		if (!now)
			return;
		now = skelgen_monotonic_ns();
		pmpi.Send(&now, sizeof(now), MPI_BYTE, from, PING_TAG, private_comm);
	}
}

static void ask(struct skelgen_stream *s, enum skelgen_clock_place place)
{
	uint8_t payload[64];
	uint8_t *p = payload;
	uint64_t best = UINT64_MAX;
	uint64_t ticks = 0; /* in the middle of the best exchange: clocks may drift */
	uint64_t theirs;
	int64_t offset = 0;

	for (int i = 0, in_vain = 0; i < MOST_PING_PONGS && in_vain < PING_PONGS; i++) {
		uint64_t begin = skelgen_ticks();
		uint64_t before = skelgen_monotonic_ns();
		uint64_t after;

		theirs = before;
		pmpi.Send(&theirs, sizeof(theirs), MPI_BYTE, 0, PING_TAG, private_comm);
		pmpi.Recv(&theirs, sizeof(theirs), MPI_BYTE, 0, PING_TAG, private_comm,
			  MPI_STATUS_IGNORE);
		after = skelgen_monotonic_ns();
		in_vain++;
		if (after - before >= best)
			continue;
		in_vain = 0;
		best = after - before;
		ticks = begin + (skelgen_ticks() - begin) / 2;
		offset = (int64_t)(theirs - (before + best / 2));
	}
	theirs = 0;
	pmpi.Send(&theirs, sizeof(theirs), MPI_BYTE, 0, PING_TAG, private_comm);
	if (!s || s->stopped)
		return;
	p = skelgen_put_varint(p, place);
	p = skelgen_put_varint(p, ticks);
	p = skelgen_put_varint(p, 0);
	p = skelgen_put_zigzag(p, offset);
	p = skelgen_put_varint(p, best / 2 + 1);
	skelgen_define(s, SKELGEN_REC_OFFSET, payload, (size_t)(p - payload));
}

/* Collective where several hosts take part: measure the offsets to rank 0's clock. */
void skelgen_clock_offsets(struct skelgen_stream *s, enum skelgen_clock_place place)
{
	for (int i = 1; i < leader_count; i++) {
		if (skelgen.rank == 0)
			answer(leaders[i]);
		else if (skelgen.rank == leaders[i])
			ask(s, place);
	}
}

/* Let go of what the exchange needed. */
void skelgen_clock_release(void)
{
	if (leader_count)
		pmpi.Comm_free(&private_comm);
	free(leaders);
	leaders = NULL;
	leader_count = 0;
}
