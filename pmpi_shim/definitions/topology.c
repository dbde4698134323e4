/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies of communicators: grids, and the neighbours of this rank. */
#include "definitions/topology.h"

#include "base/mpi_library.h"
#include "encode/varint.h"

#include <stdlib.h>

#define MOST_DIMENSIONS 64

static int topology_of(MPI_Comm comm)
{
	int topology = MPI_UNDEFINED;
	int inter = 0;

	pmpi.Comm_test_inter(comm, &inter);
	if (!inter)
		pmpi.Topo_test(comm, &topology);
	return topology;
}

static int dimensions_of(MPI_Comm comm)
{
	int dimensions = 0;

	pmpi.Cartdim_get(comm, &dimensions);
	return dimensions > MOST_DIMENSIONS ? 0 : dimensions;
}

static void cartesian_neighbours(MPI_Comm comm, struct skelgen_neighbours *around)
{
	int n = around->sources;

	for (int i = 0; i < n; i += 2)
		pmpi.Cart_shift(comm, i / 2, 1, around->ranks + i, around->ranks + i + 1);
	memcpy(around->ranks + n, around->ranks, (size_t)n * sizeof(*around->ranks));
}

static void graph_neighbours(MPI_Comm comm, int rank, struct skelgen_neighbours *around)
{
	int n = around->sources;

	pmpi.Graph_neighbors(comm, rank, n, around->ranks);
	memcpy(around->ranks + n, around->ranks, (size_t)n * sizeof(*around->ranks));
}

/* The neighbours of a rank, in the order of neighbourhood collectives. */
void skelgen_neighbours_find(MPI_Comm comm, int rank, struct skelgen_neighbours *around)
{
	int topology = topology_of(comm);
	int weighted;
	int n = 0;
	int *weights;

	*around = (struct skelgen_neighbours){0};
	if (topology == MPI_CART)
		n = 2 * dimensions_of(comm);
	else if (topology == MPI_GRAPH)
		pmpi.Graph_neighbors_count(comm, rank, &n);
	around->sources = around->destinations = n;
	if (topology == MPI_DIST_GRAPH)
		pmpi.Dist_graph_neighbors_count(comm, &around->sources, &around->destinations,
						&weighted);
	n = around->sources + around->destinations;
	/* Weights, which nobody asked for, come behind the ranks. */
	around->ranks = n ? calloc(2 * (size_t)n, sizeof(*around->ranks)) : NULL;
	if (!around->ranks) {
		*around = (struct skelgen_neighbours){0};
		return;
	}
	weights = around->ranks + n;
	if (topology == MPI_CART)
		cartesian_neighbours(comm, around);
	else if (topology == MPI_GRAPH)
		graph_neighbours(comm, rank, around);
	else
		pmpi.Dist_graph_neighbors(comm, around->sources, around->ranks, weights,
					  around->destinations, around->ranks + around->sources,
					  weights + around->sources);
}

static uint8_t *put_cartesian(uint8_t *p, MPI_Comm comm)
{
	int dimensions = topology_of(comm) == MPI_CART ? dimensions_of(comm) : 0;
	int numbers[3 * MOST_DIMENSIONS];

	if (dimensions)
		pmpi.Cart_get(comm, dimensions, numbers, numbers + dimensions,
			      numbers + 2 * dimensions);
	p = skelgen_put_varint(p, (uint64_t)dimensions);
	for (int i = 0; i < dimensions; i++) {
		p = skelgen_put_varint(p, (uint64_t)numbers[i]);
		p = skelgen_put_varint(p, numbers[dimensions + i] != 0);
	}
	return p;
}

static uint8_t *put_ranks(uint8_t *p, const int *ranks, int n)
{
	uint64_t real = 0;

	for (int i = 0; i < n; i++)
		real += ranks[i] != MPI_PROC_NULL;
	p = skelgen_put_varint(p, real);
	for (int i = 0; i < n; i++)
		if (ranks[i] != MPI_PROC_NULL)
			p = skelgen_put_varint(p, (uint64_t)ranks[i]);
	return p;
}

/* At most how many bytes skelgen_put_topology() writes. */
size_t skelgen_topology_bytes(const struct skelgen_neighbours *around)
{
	return 12 * MOST_DIMENSIONS + 30 +
	       5 * ((size_t)around->sources + (size_t)around->destinations);
}

uint8_t *skelgen_put_topology(uint8_t *p, MPI_Comm comm, const struct skelgen_neighbours *around)
{
	p = put_cartesian(p, comm);
	p = put_ranks(p, around->ranks, around->sources);
	return put_ranks(p, around->ranks + around->sources, around->destinations);
}
