/* What makes a recorder remember much; prints how much memory the process has [KiB]. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "resident.h"

#define TYPES 64
#define TAGS 250
#define REQUESTS 200
#define VECTORS 30000
#define THREADS 400
#define FEW 50

/* As many different calls as there are pairs of type and tag. */
static void many_shapes(void)
{
	MPI_Datatype types[TYPES];
	int buffer[TYPES + 1];

	for (int i = 0; i < TYPES; i++) {
		MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
		MPI_Type_commit(&types[i]);
		for (int tag = 0; tag < TAGS; tag++)
			MPI_Send(buffer, 1, types[i], MPI_PROC_NULL, tag, MPI_COMM_WORLD);
	}
	for (int i = 0; i < TYPES; i++)
		MPI_Type_free(&types[i]);
}

static void many_vectors(void)
{
	static char from[VECTORS], to[VECTORS];
	int nothing = 0;

	for (int i = 0; i < VECTORS; i++)
		MPI_Alltoallv(from, &i, &nothing, MPI_CHAR, to, &i, &nothing, MPI_CHAR,
			      MPI_COMM_SELF);
}

/* As many lists of requests as there are pairs of them. */
static void many_lists(void)
{
	MPI_Request requests[REQUESTS], pair[2];
	int buffer = 0;

	for (int i = 0; i < REQUESTS; i++)
		MPI_Send_init(&buffer, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < REQUESTS; i++) {
		for (int j = 0; j < i; j++) {
			pair[0] = requests[i];
			pair[1] = requests[j];
			MPI_Startall(2, pair);
			MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
		}
	}
	for (int i = 0; i < REQUESTS; i++)
		MPI_Request_free(&requests[i]);
}

static void *in_thread(void *unused)
{
	int buffer = 0;

	(void)unused;
	for (int i = 0; i < 3; i++)
		MPI_Send(&buffer, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD);
	return NULL;
}

static void short_threads(int count)
{
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		short_threads(FEW);
		printf("few %ld\n", resident_kib());
		short_threads(THREADS - FEW);
		printf("many %ld\n", resident_kib());
	} else {
		many_shapes();
		many_vectors();
		many_lists();
		printf("end %ld\n", resident_kib());
	}
	MPI_Finalize();
	return 0;
}
