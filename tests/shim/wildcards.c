/* Wildcards and probes: rank 0 receives what ranks 1 and 2 send. */
#include <mpi.h>
#include <stdio.h>

static void turn(int from, int tag)
{
	MPI_Send(&tag, 1, MPI_INT, from, 99, MPI_COMM_WORLD);
}

static void receive(void)
{
	MPI_Request request[3];
	MPI_Status status;
	MPI_Message message;
	int number[3], flag = 0;

	turn(2, 7);
	MPI_Recv(number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	turn(1, 8);
	MPI_Irecv(number, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, request);
	MPI_Wait(request, MPI_STATUS_IGNORE);
	MPI_Irecv(number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, request);
	turn(2, 11);
	MPI_Wait(request, &status);
	printf("irecv %d %d %d\n", number[0], status.MPI_SOURCE, status.MPI_TAG);
	MPI_Irecv(number, 1, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, request);
	MPI_Irecv(number + 1, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, request + 1);
	MPI_Irecv(number + 2, 1, MPI_INT, MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, request + 2);
	turn(2, 12);
	turn(1, 13);
	turn(1, 14);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	printf("all %d %d %d\n", number[0], number[1], number[2]);
	turn(2, 15);
	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Recv(number, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	for (int i = 0; i < 1000; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	turn(1, 16);
	while (!flag)
		MPI_Iprobe(MPI_ANY_SOURCE, 16, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Recv(number, 1, MPI_INT, 1, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	turn(2, 17);
	MPI_Mprobe(MPI_ANY_SOURCE, 17, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	turn(1, 18);
	MPI_Mprobe(MPI_ANY_SOURCE, 18, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(number, 1, MPI_INT, &message, request);
	MPI_Wait(request, MPI_STATUS_IGNORE);
	printf("matched %d\n", number[0]);
	turn(1, 19);
	MPI_Sendrecv(number, 1, MPI_INT, 2, 99, number + 1, 1, MPI_INT, MPI_ANY_SOURCE, 19,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(number, 1, MPI_INT, 2, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void answer(int turns)
{
	while (turns--) {
		int tag;

		MPI_Recv(&tag, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		receive();
	else
		answer(6);
	MPI_Finalize();
	return 0;
}
