/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far apart the clocks of different hosts are. One rank of each host (its smallest) exchanges
 * messages with rank 0; the fastest exchange bounds the error by half its time.
 */
#include "lifecycle/clock_offsets.h"

#include "base/clock.h"
#include "base/mpi_library.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"

#include <stdlib.h>

/* Exchanges go on until so many have brought nothing better. */
#define PING_PONGS 20
#define MOST_PING_PONGS 200
#define PING_TAG 1

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
