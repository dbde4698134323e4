/*
 * disorder FILE: receives in no order between stretches that repeat, as often as it takes for the
 * recorder to count its changes between the two from the beginning again. Some find a message that
 * is too long: they return that or their error handler jumps out of them. Writes tag, count and
 * whether it failed of each receive that returned into FILE.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

enum { STRETCHES = 300, RANDOM = 150, REPEATED = 200, PLACES = 8, MOST = 3000, MORE = 8 };

static uint64_t state = 1;
static FILE *file;
static char buffer[MOST];
static char message[MOST + MORE];
static MPI_Request sent = MPI_REQUEST_NULL;
static jmp_buf before;
static MPI_Errhandler jumping;

static int any_of(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 32) * n >> 32);
}

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(before, 1);
}

#define PLACE(n)                                                                    \
	case n:                                                                     \
		code = MPI_Recv(buffer, count, MPI_CHAR, from, tag, MPI_COMM_WORLD, \
				MPI_STATUS_IGNORE);                                 \
		__asm__ volatile("" : : "i"(n));                                    \
		break

/* The first four places have one tag each, the others any; the even ones have one size each. */
static void receive(int place, int from)
{
	int tag = place < PLACES / 2 ? place : any_of(MOST);
	int count = place % 2 ? any_of(MOST) : place;
	int code = MPI_SUCCESS;

	if (from == 0)
		MPI_Isend(message, count + MORE, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &sent);

	switch (place) {
		PLACE(0);
		PLACE(1);
		PLACE(2);
		PLACE(3);
		PLACE(4);
		PLACE(5);
		PLACE(6);
		PLACE(7);
	}
	fwrite((int[3]){tag, count, code != MPI_SUCCESS}, sizeof(int), 3, file);
}

/* A receive that fails; it returns, or its error handler jumps out of it. */
static void fail(int place, MPI_Errhandler handler)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	if (!setjmp(before))
		receive(place, 0);
	MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	file = fopen(argv[argc - 1], "wb");
	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(jump, &jumping);
	for (int i = 0; i < STRETCHES; i++) {
		for (int j = 0; j < RANDOM; j++)
			receive(any_of(PLACES), MPI_PROC_NULL);
		fail(any_of(PLACES), MPI_ERRORS_RETURN);
		fail(any_of(PLACES), jumping);
		for (int j = 0; j < REPEATED; j++)
			receive(j % 3, MPI_PROC_NULL);
		fail(i % PLACES, i % 2 ? jumping : MPI_ERRORS_RETURN);
	}
	MPI_Errhandler_free(&jumping);
	MPI_Finalize();
	fclose(file);
	return 0;
}
