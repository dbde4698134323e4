/* Collectives on three ranks; prints a checksum of what they delivered. */
#include <mpi.h>
#include <stdio.h>

#define N 3

static int rank;
static long sum;

static void add(const int numbers[], int n)
{
	for (int i = 0; i < n; i++)
		sum = sum * 31 + numbers[i];
}

static void in_place(void)
{
	int a[2 * N], b[N];

	for (int i = 0; i < 2 * N; i++)
		a[i] = 10 * rank + i;
	MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce(rank ? a : MPI_IN_PLACE, a, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Gather(rank ? a : MPI_IN_PLACE, 2, MPI_INT, a, 2, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(a, 2, MPI_INT, rank ? b : MPI_IN_PLACE, 2, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_INT, MPI_COMM_WORLD);
	add(a, 2 * N);
}

static void vectors(void)
{
	int counts[N], displacements[N], recv_counts[N], recv_displacements[N];
	int a[16] = {0}, b[16] = {0};
	MPI_Datatype types[N];
	int bytes[N], byte_displacements[N];

	for (int i = 0; i < N; i++) {
		counts[i] = rank + i;
		recv_counts[i] = rank + i;
		displacements[i] = i ? displacements[i - 1] + counts[i - 1] : 0;
		recv_displacements[i] = displacements[i];
		bytes[i] = displacements[i] * (int)sizeof(int);
		byte_displacements[i] = bytes[i];
		types[i] = MPI_INT;
	}
	for (int i = 0; i < 16; i++)
		a[i] = 100 * rank + i;
	MPI_Alltoallv(a, counts, displacements, MPI_INT, b, recv_counts, recv_displacements,
		      MPI_INT, MPI_COMM_WORLD);
	add(b, 6);
	MPI_Alltoallw(a, counts, bytes, types, b, recv_counts, byte_displacements, types,
		      MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		recv_counts[i] = i + 1, recv_displacements[i] = i * (i + 1) / 2;
	MPI_Gatherv(a, rank + 1, MPI_INT, b, recv_counts, recv_displacements, MPI_INT, 1,
		    MPI_COMM_WORLD);
	MPI_Scatterv(b, recv_counts, recv_displacements, MPI_INT, a, rank + 1, MPI_INT, 1,
		     MPI_COMM_WORLD);
	MPI_Allgatherv(a, rank + 1, MPI_INT, b, recv_counts, recv_displacements, MPI_INT,
		       MPI_COMM_WORLD);
	MPI_Reduce_scatter(b, a, recv_counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	add(a, rank + 1);
}

static void rooted(void)
{
	double a[N] = {1, 2, 3}, b[N];
	int one = rank, all[N];

	MPI_Bcast(a, N, MPI_DOUBLE, 2, MPI_COMM_WORLD);
	MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_PROD, 1, MPI_COMM_WORLD);
	MPI_Gather(&one, 1, MPI_INT, all, rank ? -7 : 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(all, rank ? -7 : 1, MPI_INT, &one, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scan(&one, all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Exscan(&one, all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	add(&one, 1);
}

static void nonblocking(void)
{
	MPI_Request request[3];
	int a = rank, b = 0, c[N];

	MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[1]);
	MPI_Iallgather(&a, 1, MPI_INT, c, 1, MPI_INT, MPI_COMM_WORLD, &request[2]);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	add(&b, 1);
	add(c, N);
}

int main(int argc, char **argv)
{
	long total;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	in_place();
	vectors();
	rooted();
	nonblocking();
	MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("checksum %ld\n", total);
	MPI_Finalize();
	return 0;
}
