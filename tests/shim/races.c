/* Threads that make, use and free all kinds of objects at the same time; threads come and go. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 3
#define STEPS 50

static MPI_Comm comms[THREADS]; /* each thread has one of its own */

static void add(void *a, void *b, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)b)[i] += ((int *)a)[i];
}

static void messages(MPI_Comm comm, int step)
{
	int sent = step, got[2], flag = 0;
	MPI_Request request[2];
	MPI_Message message;
	MPI_Status status;

	MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request[0]);
	MPI_Isend(&sent, 1, MPI_INT, 0, step, comm, &request[1]);
	while (!flag)
		MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
	MPI_Isend(&sent, 1, MPI_INT, 0, step, comm, &request[0]);
	MPI_Mprobe(0, MPI_ANY_TAG, comm, &message, &status);
	MPI_Mrecv(&got[1], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Recv_init(&got[0], 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request[0]);
	MPI_Start(&request[0]);
	MPI_Wait(&request[0], &status);
	MPI_Request_free(&request[0]);
}

static void objects(MPI_Comm comm, int step)
{
	int mine[4] = {step}, all[4], counts[] = {1};
	MPI_Datatype type;
	MPI_Comm copy;
	MPI_Op op;

	MPI_Type_contiguous(1 + step % 3, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Comm_dup(comm, &copy);
	MPI_Op_create(add, 1, &op);
	MPI_Bcast(mine, 1, type, 0, copy);
	MPI_Allreduce(mine, all, 1, MPI_INT, op, copy);
	MPI_Alltoallv(mine, counts, (int[]){0}, MPI_INT, all, counts, (int[]){0}, MPI_INT, copy);
	MPI_Op_free(&op);
	MPI_Comm_free(&copy);
	MPI_Type_free(&type);
}

static void *work(void *argument)
{
	long thread = (long)argument;

	for (int step = 0; step < STEPS; step++) {
		messages(comms[thread], step);
		objects(comms[thread], step);
		if (step == STEPS / 2)
			MPI_Pcontrol(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level < MPI_THREAD_MULTIPLE) {
		printf("no threads\n");
		MPI_Finalize();
		return 0;
	}
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
	for (int round = 0; round < ROUNDS; round++) {
		for (long i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, (void *)i);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	printf("joined\n");
	return 0;
}
