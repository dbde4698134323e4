/* Threads that call MPI at the same time. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define CALLS 100000

static MPI_Request handed_over;

static void *work(void *argument)
{
	int thread = (int)(long)argument;

	for (int i = 0; i < CALLS; i++)
		MPI_Send(&thread, 1, MPI_INT, MPI_PROC_NULL, THREADS * (i % 1000) + thread,
			 MPI_COMM_WORLD);
	if (thread == 1)
		MPI_Wait(&handed_over, MPI_STATUS_IGNORE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int level, number = 0, got;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level < MPI_THREAD_MULTIPLE) {
		printf("no threads\n");
		MPI_Finalize();
		return 0;
	}
	MPI_Irecv(&got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &handed_over);
	MPI_Send(&number, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("joined\n");
	MPI_Finalize();
	return 0;
}
