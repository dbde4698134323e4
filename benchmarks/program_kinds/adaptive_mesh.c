/*
 * adaptive_mesh: blocks that are refined, so that messages change in size and number.
 *
 *     adaptive_mesh [steps] [units of work of a block] [steps between two refinements]
 *
 * A rank has some blocks. Each block sends one message to the next rank and one to the rank
 * before it; how many bytes depends on how fine the block is. After some steps the ranks agree
 * on new blocks: how many and how fine comes from a sequence of numbers that all ranks know.
 */
#include "kinds.h"

enum { MOST = 12, BYTES = 1024, FINEST = 4 };

struct mesh {
	int blocks[64], level[64][MOST];
};

static unsigned next_number(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

static void refine(struct mesh *mesh, int ranks, unsigned *state)
{
	for (int r = 0; r < ranks; r++) {
		mesh->blocks[r] = 4 + (int)(next_number(state) % (MOST - 3));
		for (int i = 0; i < MOST; i++)
			mesh->level[r][i] = (int)(next_number(state) % (FINEST + 1));
	}
}

/* Send all blocks of this rank to a neighbour, take all of another. */
static void exchange_blocks(const struct mesh *mesh, int rank, int to, int from, int tag)
{
	static char out[BYTES << FINEST], in[MOST][BYTES << FINEST];
	MPI_Request request[2 * MOST];
	int count = 0, index;

	for (int i = 0; i < mesh->blocks[from]; i++)
		MPI_Irecv(in[i], BYTES << mesh->level[from][i], MPI_BYTE, from, tag + i,
			  MPI_COMM_WORLD, &request[count++]);
	for (int i = 0; i < mesh->blocks[rank]; i++)
		MPI_Isend(out, BYTES << mesh->level[rank][i], MPI_BYTE, to, tag + i, MPI_COMM_WORLD,
			  &request[count++]);
	for (int i = 0; i < count; i++)
		MPI_Waitany(count, request, &index, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 600), every = argument(argc, argv, 3, 8);
	double units = argument(argc, argv, 2, 700);
	unsigned state = 2005;
	struct mesh mesh;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > 64)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int step = 0; step < steps; step++) {
		int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

		if (step % every == 0) {
			refine(&mesh, ranks, &state);
			MPI_Bcast(&mesh, sizeof(mesh), MPI_BYTE, 0, MPI_COMM_WORLD);
		}
		exchange_blocks(&mesh, rank, right, left, 0);
		exchange_blocks(&mesh, rank, left, right, MOST);
		for (int i = 0; i < mesh.blocks[rank]; i++)
			work(units);
		agree(1.0);
	}
	MPI_Finalize();
	return 0;
}
