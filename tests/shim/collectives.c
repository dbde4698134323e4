/* Collectives on up to eight ranks; prints a checksum of what they delivered. */
#include <mpi.h>
#include <stdio.h>

#define MOST 8

static int rank, size;
static long sum;

static void add(const int numbers[], int n)
{
	for (int i = 0; i < n; i++)
		sum = sum * 31 + numbers[i];
}

static void in_place(void)
{
	int a[2 * MOST], b[MOST];

	for (int i = 0; i < 2 * size; i++)
		a[i] = 10 * rank + i;
	MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce(rank ? a : MPI_IN_PLACE, a, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Gather(rank ? a : MPI_IN_PLACE, 2, MPI_INT, a, 2, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(a, 2, MPI_INT, rank ? b : MPI_IN_PLACE, 2, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_INT, MPI_COMM_WORLD);
	add(a, 2 * size);
}

/* Every second number of `a` to every second one of `b`, all to all. */
static void in_pieces(const int a[], const int counts[], int b[])
{
	int at[MOST], end = 0;
	MPI_Datatype apart, types[MOST];

	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
	MPI_Type_commit(&apart);
	for (int i = 0; i < size; i++) {
		types[i] = i ? apart : MPI_INT;
		at[i] = end;
		end += 2 * counts[i] * (int)sizeof(int);
	}
	MPI_Alltoallw(a, counts, at, types, b, counts, at, types, MPI_COMM_WORLD);
	MPI_Type_free(&apart);
	add(b, end / (int)sizeof(int));
}

static void vectors(void)
{
	int counts[MOST], displacements[MOST], recv_counts[MOST], recv_displacements[MOST];
	int a[128] = {0}, b[128] = {0};
	MPI_Datatype types[MOST];
	int bytes[MOST], byte_displacements[MOST];

	for (int i = 0; i < size; i++) {
		counts[i] = rank + i;
		recv_counts[i] = rank + i;
		displacements[i] = i ? displacements[i - 1] + counts[i - 1] : 0;
		recv_displacements[i] = displacements[i];
		bytes[i] = displacements[i] * (int)sizeof(int);
		byte_displacements[i] = bytes[i];
		types[i] = MPI_INT;
	}
	for (int i = 0; i < 128; i++)
		a[i] = 100 * rank + i;
	MPI_Alltoallv(a, counts, displacements, MPI_INT, b, recv_counts, recv_displacements,
		      MPI_INT, MPI_COMM_WORLD);
	add(b, 6);
	MPI_Alltoallw(a, counts, bytes, types, b, recv_counts, byte_displacements, types,
		      MPI_COMM_WORLD);
	in_pieces(a, counts, b);
	for (int i = 0; i < size; i++)
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
	double a[MOST] = {1, 2, 3}, b[MOST];
	int one = rank, all[MOST];

	MPI_Bcast(a, 3, MPI_DOUBLE, 2, MPI_COMM_WORLD);
	MPI_Reduce(a, b, 3, MPI_DOUBLE, MPI_PROD, 1, MPI_COMM_WORLD);
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
	int a = rank, b = 0, c[MOST];

	MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[1]);
	MPI_Iallgather(&a, 1, MPI_INT, c, 1, MPI_INT, MPI_COMM_WORLD, &request[2]);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	add(&b, 1);
	add(c, size);
}

int main(int argc, char **argv)
{
	long total;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
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
