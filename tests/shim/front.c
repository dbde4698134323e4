/*
 * A tool that counts calls and may stand in front of the recorder. With -DNEXT it calls the next
 * function of that name, as EZTrace does; without it the library's own, and hides the call. With
 * -DINIT it hides how MPI is opened as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	sends++;
#ifdef NEXT
	int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

	*(void **)&next = dlsym(RTLD_NEXT, "MPI_Send");
	return next(buf, count, type, dest, tag, comm);
#else
	return PMPI_Send(buf, count, type, dest, tag, comm);
#endif
}

#ifdef INIT
int MPI_Init(int *argc, char ***argv)
{
	return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return PMPI_Init_thread(argc, argv, required, provided);
}
#endif

__attribute__((destructor)) static void end(void)
{
	if (sends)
		printf("the tool in front saw %d sends\n", sends);
}
