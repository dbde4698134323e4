/*
 * disk_waits: a program that writes a checkpoint in every step and waits for the disk.
 *
 *     disk_waits [steps] [KiB of a checkpoint] [units of work]
 *
 * The file stands in the current folder, one for each rank, and is removed at the end.
 */
#include "kinds.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 250), file;
	size_t bytes = (size_t)argument(argc, argv, 2, 256) << 10;
	double units = argument(argc, argv, 3, 8000);
	char *block = memory(bytes), name[64], out[1024] = {0}, in[2048];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	snprintf(name, sizeof(name), "checkpoint-%d", rank);
	file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (int i = 0; i < steps; i++) {
		exchange(out, in, 1024, rank, ranks, 0);
		work(units);
		if (file < 0 || pwrite(file, block, bytes, 0) != (ssize_t)bytes || fsync(file)) {
			perror(name);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		agree(1.0);
	}
	close(file);
	unlink(name);
	free(block);
	MPI_Finalize();
	return 0;
}
