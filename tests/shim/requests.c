/* Requests of every kind; the first argument chooses the part. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, other;

/* Several eager sends: the library returns one handle for all of them. */
static void eager(void)
{
	MPI_Request request[6];
	int numbers[6], got[3];
	int equal = 0;

	for (int i = 0; i < 3; i++)
		MPI_Isend(&rank, 1, MPI_INT, other, i, MPI_COMM_WORLD, &request[i]);
	for (int i = 1; i < 3; i++)
		equal += request[i] == request[0];
	MPI_Wait(&request[1], MPI_STATUS_IGNORE);
	for (int i = 3; i < 6; i++)
		MPI_Irecv(&numbers[i], 1, MPI_INT, other, i - 3, MPI_COMM_WORLD, &request[i]);
	MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
	MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 3; i++)
		got[i] = numbers[i + 3];
	if (!rank)
		printf("equal handles %d, got %d %d %d\n", equal, got[0], got[1], got[2]);
}

static void persistent(void)
{
	MPI_Request request[2];
	double sent = rank, got = -1;

	MPI_Send_init(&sent, 1, MPI_DOUBLE, other, 5, MPI_COMM_WORLD, &request[0]);
	MPI_Recv_init(&got, 1, MPI_DOUBLE, other, 5, MPI_COMM_WORLD, &request[1]);
	for (int i = 0; i < 20; i++) {
		MPI_Request single;

		sent = i;
		MPI_Isend(&rank, 1, MPI_INT, other, 6, MPI_COMM_WORLD, &single);
		MPI_Startall(2, request);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		MPI_Recv(&other, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&single, MPI_STATUS_IGNORE);
	}
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Start(&request[1]);
	MPI_Start(&request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Wait(&request[1], MPI_STATUS_IGNORE);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	if (!rank)
		printf("got %g\n", got);
}

/* Receives that complete in the order the sender chooses. */
static void some(void)
{
	MPI_Request request[4];
	MPI_Status status[4];
	int number[4], index, count, flag = 0, indices[4];

	if (rank == 1) {
		for (int i = 3; i >= 0; i--) {
			MPI_Recv(&number[0], 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
		}
		return;
	}
	for (int i = 0; i < 4; i++)
		MPI_Irecv(&number[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request[i]);
	MPI_Testsome(4, request, &count, indices, status);
	printf("none yet %d\n", count);
	MPI_Send(&rank, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
	MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
	printf("any %d\n", index);
	MPI_Send(&rank, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
	MPI_Waitsome(4, request, &count, indices, MPI_STATUSES_IGNORE);
	printf("some %d %d\n", count, indices[0]);
	MPI_Send(&rank, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
	do
		MPI_Testsome(4, request, &count, indices, status);
	while (!count);
	printf("tested %d %d\n", count, indices[0]);
	MPI_Send(&rank, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
	while (!flag)
		MPI_Testany(4, request, &index, &flag, MPI_STATUS_IGNORE);
	printf("tested any %d\n", index);
	MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
	printf("undefined %d\n", index == MPI_UNDEFINED);
}

static void nothing(void)
{
	MPI_Request request[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int flag, number = 0;

	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	MPI_Irecv(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[1]);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
	MPI_Irecv(&number, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request[2]);
	MPI_Cancel(&request[2]);
	MPI_Wait(&request[2], MPI_STATUS_IGNORE);
	MPI_Isend(&number, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &request[0]);
	MPI_Request_free(&request[0]);
	MPI_Recv(&number, 1, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!rank)
		printf("flag %d\n", flag);
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	if (!strcmp(part, "eager"))
		eager();
	else if (!strcmp(part, "persistent"))
		persistent();
	else if (!strcmp(part, "some"))
		some();
	else
		nothing();
	MPI_Finalize();
	return 0;
}
