/* Halo exchanges by neighbourhood collectives, and what MPI 4 added; four ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 60, N = 512 };

static double field[N * N], halo[4 * N];
static int rank;

static void work(void)
{
	for (int i = 1; i < N * N; i++)
		field[i] = 0.5 * (field[i] + field[i - 1]) + 1e-9 * rank;
}

static void residual(void)
{
	double own = field[N], all;

	MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	field[0] = 1e-3 * all;
}

/* A grid of 2 x 2, around in one direction: two edges between the same ranks. */
static void grid(void)
{
	int dimensions[2] = {2, 2}, periods[2] = {1, 0}, counts[4] = {1, 1, N, N};
	MPI_Aint from[4] = {0, 0, 0, 0}, to[4];
	MPI_Datatype column, types[4], plain[4];
	MPI_Comm comm;
	int back[4] = {N, N, N, N};

	MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 1, &comm);
	for (int i = 0; i < 4; i++) {
		types[i] = i < 2 ? column : MPI_DOUBLE;
		plain[i] = MPI_DOUBLE;
		to[i] = i * N * (MPI_Aint)sizeof(double);
	}
	for (int step = 0; step < STEPS; step++) {
		work();
		MPI_Neighbor_alltoallw(field, counts, from, types, halo, back, to, plain, comm);
		if (step % 4 == 3)
			residual();
	}
	MPI_Type_free(&column);
	MPI_Comm_free(&comm);
}

/* Each rank sends to the two behind it, more to the nearer one. */
static void graph(void)
{
	int size, counts[2] = {N, N / 4}, places[2] = {0, N}, into[2], out[2];
	MPI_Request request;
	MPI_Comm comm;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 2; i++) {
		out[i] = (rank + 1 + i) % size;
		into[i] = (rank + size - 1 - i) % size;
	}
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, into, MPI_UNWEIGHTED, 2, out,
				       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	for (int step = 0; step < STEPS; step++) {
		MPI_Ineighbor_alltoallv(field, counts, places, MPI_DOUBLE, halo, counts, places,
					MPI_DOUBLE, comm, &request);
		work();
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Neighbor_allgather(field, 8, MPI_DOUBLE, halo, 8, MPI_DOUBLE, comm);
		if (step % 4 == 3)
			residual();
	}
	MPI_Comm_free(&comm);
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
/* Persistent collectives, Isendrecv and a partitioned message around a ring. */
static void persistent(void)
{
	int size, dimensions[1], periods[1] = {1};
	MPI_Request halos[2], both, parts[2];
	double own, all;
	MPI_Comm ring;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	dimensions[0] = size;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &ring);
	MPI_Neighbor_alltoall_init(field, N, MPI_DOUBLE, halo, N, MPI_DOUBLE, ring, MPI_INFO_NULL,
				   &halos[0]);
	MPI_Allreduce_init(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
			   &halos[1]);
	MPI_Psend_init(field, 4, N, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &parts[0]);
	MPI_Precv_init(halo, 2, 2 * N, MPI_DOUBLE, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &parts[1]);
	for (int step = 0; step < STEPS; step++) {
		own = field[N];
		MPI_Startall(2, halos);
		work();
		MPI_Waitall(2, halos, MPI_STATUSES_IGNORE);
		MPI_Isendrecv(field, 64, MPI_DOUBLE, (rank + 1) % size, 1, halo, 64, MPI_DOUBLE,
			      (rank + size - 1) % size, 1, MPI_COMM_WORLD, &both);
		MPI_Wait(&both, MPI_STATUS_IGNORE);
		MPI_Startall(2, parts);
		for (int i = 0; i < 4; i++)
			MPI_Pready(i, parts[0]);
		MPI_Waitall(2, parts, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Request_free(&halos[i]);
		MPI_Request_free(&parts[i]);
	}
	MPI_Comm_free(&ring);
}
#endif

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(argv[1], "grid") == 0)
		grid();
	else if (strcmp(argv[1], "graph") == 0)
		graph();
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
	else
		persistent();
#endif
	printf("rank %d: %g\n", rank, field[N]);
	MPI_Finalize();
	return 0;
}
