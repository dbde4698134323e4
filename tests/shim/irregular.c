/*
 * irregular FILE: calls that come in no order, with tags, sizes, peers, requests and datatypes that
 * hardly repeat, between stretches that do; writes tag and count of each send into FILE.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, PENDING = 24, MOST = 3000 };

static uint64_t state = 1;
static FILE *file;
static char buffer[2 * MOST];

static int any_of(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 32) * n >> 32);
}

static void note(int tag, int count)
{
	int numbers[2] = {tag, count};

	fwrite(numbers, sizeof(numbers), 1, file);
}

/* Three call sites: the tag varies, the size varies, both do. */
static void send(int kind)
{
	int tag = kind == 1 ? 7 : any_of(MOST);
	int count = kind == 0 ? 3 : any_of(MOST);

	note(tag, count);
	if (kind == 0)
		MPI_Send(buffer, count, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
	else if (kind == 1)
		MPI_Send(buffer, count, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
	else
		MPI_Send(buffer, count, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_SELF);
}

static void repeat(int length, int times)
{
	for (int i = 0; i < times; i++) {
		for (int j = 0; j < length; j++) {
			note(j, 10 * j);
			MPI_Send(buffer, 10 * j, MPI_CHAR, MPI_PROC_NULL, j, MPI_COMM_WORLD);
		}
	}
}

/* Messages to itself of a datatype of this round, completed in any order. */
static void exchange(MPI_Comm comm)
{
	MPI_Request requests[2 * PENDING];
	MPI_Datatype type;
	int n = 1 + any_of(PENDING);

	MPI_Type_vector(1 + any_of(9), 1, 2, MPI_CHAR, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < n; i++)
		MPI_Irecv(buffer, 1, type, 0, i, comm, &requests[i]);
	for (int i = 0; i < n; i++)
		MPI_Isend(buffer + MOST, 1, type, 0, i, comm, &requests[n + i]);
	for (int left = 2 * n; left > 0; left--) {
		int i = any_of((uint32_t)left);

		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		requests[i] = requests[left - 1];
	}
	MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
	file = fopen(argv[argc - 1], "wb");
	MPI_Init(&argc, &argv);
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Comm comm;

		MPI_Comm_dup(MPI_COMM_SELF, &comm);
		for (int i = any_of(60); i > 0; i--)
			send(any_of(3));
		repeat(1 + any_of(5), 1 + any_of(9));
		exchange(comm);
		MPI_Comm_free(&comm);
	}
	fclose(file);
	MPI_Finalize();
	return 0;
}
