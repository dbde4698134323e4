/*
 * six_iterations: a three-dimensional FFT with six iterations.
 *
 *     six_iterations [iterations] [milliseconds of an iteration]
 *
 * Set-up takes as long as an iteration. An iteration transforms, exchanges all data between all
 * ranks, transforms, and adds up a checksum.
 */
#include "kinds.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
	int ranks, iterations = argument(argc, argv, 1, 6);
	double units = 1000.0 * argument(argc, argv, 2, 700);
	char *out, *in;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	out = memory((size_t)ranks * BYTES);
	in = memory((size_t)ranks * BYTES);
	work(units);
	MPI_Alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < iterations; i++) {
		work(0.6 * units);
		MPI_Alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD);
		work(0.4 * units);
		agree(1.0);
	}
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
