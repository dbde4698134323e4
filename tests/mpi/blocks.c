/* Collectives with blocks of one size each, again and again. */
#include <mpi.h>

enum { RANKS = 3, STEPS = 60, COUNT = 1000 };

static double out[RANKS * COUNT], in[RANKS * COUNT];

/* A part of every second number for each rank. */
static void in_pieces(MPI_Datatype apart)
{
	enum { PART = COUNT / 2 };
	int counts[RANKS], at[RANKS], bytes[RANKS];
	MPI_Datatype types[RANKS];

	for (int i = 0; i < RANKS; i++) {
		counts[i] = PART;
		at[i] = i * PART;
		bytes[i] = 2 * at[i] * (int)sizeof(double);
		types[i] = apart;
	}
	MPI_Alltoallv(out, counts, at, apart, in, counts, at, apart, MPI_COMM_WORLD);
	MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Datatype apart;

	MPI_Init(&argc, &argv);
	MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &apart);
	MPI_Type_commit(&apart);
	for (int step = 0; step < STEPS; step++) {
		MPI_Bcast(in, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
		MPI_Gather(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
		MPI_Scatter(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
		MPI_Allgather(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, MPI_COMM_WORLD);
		MPI_Alltoall(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, MPI_COMM_WORLD);
		MPI_Reduce(out, in, COUNT, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
		MPI_Allreduce(out, in, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Reduce_scatter_block(out, in, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Scan(out, in, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Exscan(out, in, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		in_pieces(apart);
	}
	MPI_Type_free(&apart);
	MPI_Finalize();
	return 0;
}
