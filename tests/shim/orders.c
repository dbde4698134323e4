/*
 * orders FILE: calls in a random order of stretches that repeat, so that what follows a call is
 * now the same for long, now another; writes the tag of each call into FILE.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STRETCHES = 500, LONGEST = 12, REPEATS = 20, KINDS = 24 };

static void call(int kind)
{
	int buffer = 0;

	/* Two call sites, and as many shapes as there are tags. */
	if (kind % 2)
		MPI_Send(&buffer, 1, MPI_INT, MPI_PROC_NULL, kind, MPI_COMM_WORLD);
	else
		MPI_Send(&buffer, kind % 5, MPI_INT, MPI_PROC_NULL, kind, MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
	FILE *file = fopen(argv[argc - 1], "wb");
	int word[LONGEST];

	MPI_Init(&argc, &argv);
	srand(1);
	for (int i = 0; i < STRETCHES; i++) {
		int length = 1 + rand() % LONGEST;
		int repeats = 1 + rand() % REPEATS;

		for (int j = 0; j < length; j++)
			word[j] = rand() % (1 + rand() % KINDS);
		for (int j = 0; j < repeats * length; j++) {
			call(word[j % length]);
			putc(word[j % length], file);
		}
	}
	fclose(file);
	MPI_Finalize();
	return 0;
}
