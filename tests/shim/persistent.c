/* What MPI 4 added: persistent collectives, Isendrecv, partitioned messages; two ranks. */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
static void collectives(int rank)
{
	double in = 0, out = rank;
	int counts[2] = {1, 2}, places[2] = {0, 1}, from[3], to[3] = {rank, rank, rank};
	MPI_Request requests[2];
	MPI_Comm ring;
	int ranks[1] = {2}, periods[1] = {1};

	MPI_Allreduce_init(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
			   &requests[0]);
	MPI_Allgatherv_init(to, rank + 1, MPI_INT, from, counts, places, MPI_INT, MPI_COMM_WORLD,
			    MPI_INFO_NULL, &requests[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Start(&requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Cart_create(MPI_COMM_WORLD, 1, ranks, periods, 0, &ring);
	MPI_Neighbor_alltoall_init(to, 1, MPI_INT, from, 1, MPI_INT, ring, MPI_INFO_NULL,
				   &requests[0]);
	MPI_Start(&requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&requests[0]);
	MPI_Comm_free(&ring);
}

static void both_ways(int rank)
{
	int out = rank, in, other = 1 - rank;
	MPI_Request request;

	/* No MPI_ANY_TAG: the status of an Isendrecv has a tag of MPICH's own at times. */
	MPI_Isendrecv(&out, 1, MPI_INT, other, 5, &in, 1, MPI_INT, MPI_ANY_SOURCE, 5,
		      MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Isendrecv_replace(&out, 1, MPI_INT, other, 6, other, 6, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_parts(int rank)
{
	int buffer[12] = {0}, there = 0;
	MPI_Request request;

	if (rank == 0)
		MPI_Psend_init(buffer, 4, 3, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
			       &request);
	else
		MPI_Precv_init(buffer, 2, 6, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
			       &request);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&request);
		if (rank == 0) {
			MPI_Pready_range(0, 2, request);
			MPI_Pready(3, request);
		} else {
			while (!there)
				MPI_Parrived(request, 0, &there);
			there = 0;
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}
#endif

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
	collectives(rank);
	both_ways(rank);
	in_parts(rank);
	printf("rank %d did all\n", rank);
#endif
	MPI_Finalize();
	return 0;
}
