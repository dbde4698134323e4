/*
 * long_setup: an integer sort that makes its keys for a long time before its first message.
 *
 *     long_setup [rounds] [milliseconds of set-up] [milliseconds of a round]
 *
 * A round counts keys, agrees on the counts and exchanges keys; the result is checked at the end
 * without messages.
 */
#include "kinds.h"

enum { BUCKETS = 1024, BYTES = 1 << 18 };

int main(int argc, char **argv)
{
	int ranks, rounds = argument(argc, argv, 1, 30);
	double setup = 1000.0 * argument(argc, argv, 2, 1700);
	double units = 1000.0 * argument(argc, argv, 3, 60);
	int mine[BUCKETS] = {0}, sum[BUCKETS], out_counts, in_counts[64];
	char *out, *in;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > 64)
		MPI_Abort(MPI_COMM_WORLD, 1);
	out = memory((size_t)ranks * BYTES);
	in = memory((size_t)ranks * BYTES);
	work(setup);
	for (int round = 0; round < rounds; round++) {
		work(0.5 * units);
		MPI_Allreduce(mine, sum, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		out_counts = BYTES;
		MPI_Allgather(&out_counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
		MPI_Alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD);
		work(0.5 * units);
	}
	work(0.3 * setup);
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
