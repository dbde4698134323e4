/* Programs with other worlds than one MPI_COMM_WORLD; the first argument chooses one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No MPI_Init: a session leads to a communicator of all processes. */
static void sessions(int rounds)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
	for (int round = 0; round < rounds; round++) {
		MPI_Session session;
		MPI_Group group;
		MPI_Comm all;
		int rank, size, number = 1, sum;

		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
		MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
		MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
					   &all);
		MPI_Group_free(&group);
		MPI_Comm_rank(all, &rank);
		MPI_Comm_size(all, &size);
		for (int i = 0; i < 10 + round; i++)
			MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &number, 1, MPI_INT,
				     (rank + size - 1) % size, 5, all, MPI_STATUS_IGNORE);
		MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, all);
		if (!rank)
			printf("sum %d\n", sum);
		MPI_Comm_free(&all);
		MPI_Session_finalize(&session);
	}
#else
	printf("no sessions for %d rounds\n", rounds);
#endif
}

/* Ranks start two processes of the same program and send them a number. */
static void spawn(int argc, char **argv)
{
	char *arguments[] = {"spawn", NULL};
	MPI_Comm parent, children;
	int number = 42, rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
			       MPI_ERRCODES_IGNORE);
		if (!rank)
			MPI_Send(&number, 1, MPI_INT, 1, 3, children);
		MPI_Barrier(children); /* MPICH lets parents end while their children start */
		MPI_Comm_disconnect(&children);
		if (!rank)
			printf("sent\n");
	} else {
		if (rank == 1)
			MPI_Recv(&number, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
		MPI_Barrier(parent);
		MPI_Comm_disconnect(&parent);
	}
	MPI_Finalize();
}

/* A rank runs another MPI program by hand. */
static void nest(int argc, char **argv)
{
	char command[4096];

	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	snprintf(command, sizeof(command), "%s inner", argv[0]);
	if (argc > 1 && !strcmp(argv[1], "nest") && system(command))
		exit(1);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "sessions"))
		sessions(atoi(argv[2]));
	if (!strcmp(how, "spawn"))
		spawn(argc, argv);
	if (!strcmp(how, "nest") || !strcmp(how, "inner"))
		nest(argc, argv);
	return 0;
}
