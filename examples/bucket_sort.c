/*
 * bucket_sort: sort random keys again and again, an all-to-all exchange each time.
 *
 * Each round makes new keys, counts them into one bucket for each rank (Alltoall of the
 * counts, Alltoallv of the keys), sorts the bucket and compares its borders with the
 * neighbours'.
 *
 *     mpirun -n 4 bucket_sort [keys of each rank] [rounds]
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RADIX_BITS = 8, RADIX = 1 << RADIX_BITS, KEY_BITS = 24, ROOM = 2 };

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> (64 - KEY_BITS));
}

static void radix_sort(uint32_t *keys, uint32_t *spare, int n)
{
	for (int shift = 0; shift < KEY_BITS; shift += RADIX_BITS) {
		int start[RADIX + 1] = {0};
		for (int i = 0; i < n; i++)
			start[(keys[i] >> shift) % RADIX + 1]++;
		for (int d = 0; d < RADIX; d++)
			start[d + 1] += start[d];
		for (int i = 0; i < n; i++)
			spare[start[(keys[i] >> shift) % RADIX]++] = keys[i];
		memcpy(keys, spare, (size_t)n * sizeof(*keys));
	}
}

struct exchange {
	int *send_counts, *send_offsets, *receive_counts, *receive_offsets;
};

static int swap_buckets(struct exchange *e, int ranks, uint32_t *keys, uint32_t *sorted,
			uint32_t *received, int n)
{
	int bucket_of_shift = (1 << KEY_BITS) / ranks + 1;

	memset(e->send_counts, 0, (size_t)ranks * sizeof(int));
	for (int i = 0; i < n; i++)
		e->send_counts[(int)keys[i] / bucket_of_shift]++;
	MPI_Alltoall(e->send_counts, 1, MPI_INT, e->receive_counts, 1, MPI_INT, MPI_COMM_WORLD);
	int total = 0;
	for (int r = 0, offset = 0; r < ranks; r++) {
		e->send_offsets[r] = offset;
		offset += e->send_counts[r];
		e->receive_offsets[r] = total;
		total += e->receive_counts[r];
	}
	for (int i = 0; i < n; i++)
		sorted[e->send_offsets[(int)keys[i] / bucket_of_shift]++] = keys[i];
	for (int r = 0; r < ranks; r++)
		e->send_offsets[r] -= e->send_counts[r];
	if (total > ROOM * n)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Alltoallv(sorted, e->send_counts, e->send_offsets, MPI_UINT32_T, received,
		      e->receive_counts, e->receive_offsets, MPI_UINT32_T, MPI_COMM_WORLD);
	return total;
}

/* Whether the left neighbour's largest key is at most our smallest. */
static int in_order(int rank, int ranks, const uint32_t *keys, int n)
{
	uint32_t largest = n ? keys[n - 1] : 0, left = 0;
	int fine, all;

	MPI_Sendrecv(&largest, 1, MPI_UINT32_T, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, 0,
		     &left, 1, MPI_UINT32_T, rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	fine = n == 0 || left <= keys[0];
	MPI_Allreduce(&fine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	int ranks, rank, fine = 1;
	struct exchange e;

	MPI_Init(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 1000000;
	int rounds = argc > 2 ? atoi(argv[2]) : 20;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	e.send_counts = calloc((size_t)ranks, sizeof(int));
	e.send_offsets = calloc((size_t)ranks, sizeof(int));
	e.receive_counts = calloc((size_t)ranks, sizeof(int));
	e.receive_offsets = calloc((size_t)ranks, sizeof(int));
	uint32_t *keys = malloc((size_t)n * sizeof(*keys));
	uint32_t *sorted = malloc((size_t)ROOM * (size_t)n * sizeof(*sorted));
	uint32_t *received = malloc((size_t)ROOM * (size_t)n * sizeof(*received));
	uint64_t state = (uint64_t)rank * 7919 + 12345;
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < n; i++)
			keys[i] = next_random(&state);
		int total = swap_buckets(&e, ranks, keys, sorted, received, n);
		radix_sort(received, sorted, total);
		fine &= in_order(rank, ranks, received, total);
	}
	if (rank == 0)
		printf("bucket_sort: %d rounds of %d keys per rank, %s\n", rounds, n,
		       fine ? "in order" : "OUT OF ORDER");
	free(keys);
	free(sorted);
	free(received);
	free(e.send_counts);
	free(e.send_offsets);
	free(e.receive_counts);
	free(e.receive_offsets);
	MPI_Finalize();
	return fine ? 0 : 1;
}
