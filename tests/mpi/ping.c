/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 prints the hosts of both ranks and how fast messages of 1 MiB go [bit/s]. Both rest before
 * MPI_Finalize: that of MPICH 4.0 over UCX hangs when a rank still receives (see parting.c).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BYTES = 1 << 20, ROUNDS = 5 };

int main(int argc, char **argv)
{
	char names[2][MPI_MAX_PROCESSOR_NAME];
	char name[MPI_MAX_PROCESSOR_NAME];
	char *buffer = calloc(1, BYTES);
	int rank;
	int length;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Get_processor_name(name, &length);
	MPI_Gather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 0)
			MPI_Send(buffer, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(buffer, BYTES, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buffer, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
	double took = MPI_Wtime() - begin;
	if (rank == 0)
		printf("%s %s %.0f\n", names[0], names[1], 16.0 * BYTES * ROUNDS / took);
	MPI_Barrier(MPI_COMM_WORLD);
	nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
	MPI_Finalize();
	free(buffer);
	return 0;
}
