/* Every collective with blocks of one size each, again and again. */
#include <mpi.h>

enum { RANKS = 3, STEPS = 60, COUNT = 1000 };

static double out[RANKS * COUNT], in[RANKS * COUNT];

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
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
	}
	MPI_Finalize();
	return 0;
}
