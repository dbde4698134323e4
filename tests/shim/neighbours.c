/* Neighbourhood collectives on a grid, a graph and a distributed graph; four ranks. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;
static long sum;

static void add(const int numbers[], int n)
{
	for (int i = 0; i < n; i++)
		sum = sum * 31 + numbers[i];
}

/* Rank r has 2r + 1 elements for the place below, 2r + 2 for the one above. */
static void on_a_line(MPI_Comm line)
{
	int out[32], in[32] = {0}, counts[2], places[2] = {0, 12}, all[2] = {4, 4};
	MPI_Aint bytes[2] = {0, 12 * sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Request request;

	for (int i = 0; i < 32; i++)
		out[i] = 100 * rank + i;
	MPI_Neighbor_allgather(out, 3, MPI_INT, in, 3, MPI_INT, line);
	MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, line);
	MPI_Ineighbor_allgatherv(out, 4, MPI_INT, in, all, places, MPI_INT, line, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	add(in, 16);
	for (int i = 0; i < 2; i++)
		counts[i] = 2 * rank + 1 + i;
	/* What comes from below was sent above: 2 (r - 1) + 2; from above 2 (r + 1) + 1. */
	int back[2] = {2 * rank, 2 * rank + 3};

	MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, back, places, MPI_INT, line);
	MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, back, bytes, types, line, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	add(in, 8);
}

/* Rank 0 sends to all others and hears from none. */
static void on_a_star(MPI_Comm star)
{
	int out[8] = {rank, rank + 1, rank + 2}, in[8] = {0};

	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, star);
	add(in, 1);
}

static void on_a_graph(MPI_Comm graph)
{
	int in[8] = {0};

	MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, graph);
	add(in, 2);
}

int main(int argc, char **argv)
{
	int dimensions[1], periods[1] = {0}, zero = 0, others[3] = {1, 2, 3}, received[2];
	int index[4] = {1, 3, 5, 6}, edges[6] = {1, 0, 2, 1, 3, 2};
	MPI_Comm line, star, graph, copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	dimensions[0] = size;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &line);
	on_a_line(line);
	MPI_Comm_dup(line, &copy);
	MPI_Neighbor_alltoall(others, 1, MPI_INT, received, 1, MPI_INT, copy);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0, &zero, MPI_UNWEIGHTED,
				       rank ? 0 : 3, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
				       &star);
	on_a_star(star);
	MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
	on_a_graph(graph);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&star);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&line);
	printf("rank %d: %ld\n", rank, sum);
	MPI_Finalize();
	return 0;
}
