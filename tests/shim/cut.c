/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut HOW FILE CALLS: what happens to the file of a rank while it is recorded, here by the rank
 * itself. HOW: "none"; "empty" or "half" truncates it; "removed"; "closed" closes its number.
 * "swapped" puts a link to FILE, a folder, in the place of the process's folder on the node.
 * CALLS calls are made before and behind that.
 *
 * With "own-before" or "own-after" the program has a handler of SIGBUS of its own, set before or
 * behind MPI_Init, which it needs twice for a file of its own; "default" has none and needs one.
 */
#include <fcntl.h>
#include <glob.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static sigjmp_buf back;

static void own_handler(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void take_signal(void)
{
	struct sigaction own = {.sa_handler = own_handler};

	sigaction(SIGBUS, &own, NULL);
}

static void calls(int count)
{
	for (int i = 0; i < count; i++)
		MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/* Touch a page behind the end of a file. */
static void touch(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT, 0600);
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (sigsetjmp(back, 1) == 0)
		*page = 1;
	else
		puts("handled");
	munmap((void *)page, 4096);
	close(file);
}

static void close_all(void)
{
	struct stat facts;

	for (int number = 3; number < 256; number++)
		if (fstat(number, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 1 << 16)
			close(number);
}

static void swap(const char *folder)
{
	char text[4096];
	glob_t found;

	snprintf(text, sizeof(text), "%s/skelgen-*", getenv("SKELGEN_TMPDIR"));
	if (glob(text, 0, NULL, &found) != 0 || found.gl_pathc != 1)
		exit(4);
	snprintf(text, sizeof(text), "%s.moved", found.gl_pathv[0]);
	if (rename(found.gl_pathv[0], text) != 0 || symlink(folder, found.gl_pathv[0]) != 0)
		exit(5);
	globfree(&found);
}

static void change(const char *how, const char *path)
{
	struct stat facts;

	if (stat(path, &facts) != 0)
		exit(2);
	if (strcmp(how, "empty") == 0 && truncate(path, 0) != 0)
		exit(3);
	if (strcmp(how, "half") == 0 && truncate(path, facts.st_size / 2 + 1) != 0)
		exit(3);
	if (strcmp(how, "removed") == 0 && unlink(path) != 0)
		exit(3);
	if (strcmp(how, "closed") == 0)
		close_all();
	if (strcmp(how, "swapped") == 0)
		swap(path);
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	int count = atoi(argv[3]);
	int rank;

	if (strcmp(how, "own-before") == 0)
		take_signal();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	calls(count);
	if (strcmp(how, "own-after") == 0)
		take_signal();
	if (strncmp(how, "own", 3) == 0 || strcmp(how, "default") == 0) {
		touch(argv[2]);
		touch(argv[2]);
	} else if (rank == 0) {
		change(how, argv[2]);
	}
	calls(count);
	MPI_Finalize();
	if (rank == 0)
		puts("the end");
	return 0;
}
