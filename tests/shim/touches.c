/* Goes through as many MiB between two barriers as the first argument says, many times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	size_t size = (size_t)atol(argv[1]) << 20;
	char *memory = malloc(size);
	double sum = 0;

	MPI_Init(&argc, &argv);
	memset(memory, 1, size);
	for (double begin = MPI_Wtime(); MPI_Wtime() - begin < 6;) {
		for (size_t i = 0; i < size; i += 64)
			sum += memory[i];
		MPI_Barrier(MPI_COMM_SELF);
	}
	printf("%g\n", sum);
	MPI_Finalize();
	free(memory);
	return 0;
}
