/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies of communicators: grids, and the neighbours of this rank. */
#ifndef SKELGEN_TOPOLOGY_H
#define SKELGEN_TOPOLOGY_H

#include "base/state.h"

struct skelgen_neighbours {
	int sources;
	int destinations;
	int *ranks; /* sources, then destinations; MPI_PROC_NULL beyond a border */
};
void skelgen_neighbours_find(MPI_Comm comm, int rank, struct skelgen_neighbours *around);
size_t skelgen_topology_bytes(const struct skelgen_neighbours *around);
uint8_t *skelgen_put_topology(uint8_t *p, MPI_Comm comm, const struct skelgen_neighbours *around);

#endif
