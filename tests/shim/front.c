/*
 * A tool that counts calls and may stand in front of the recorder. With -DNEXT it calls the next
 * function of that name, as EZTrace does; without it the library's own, and hides the call.
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

__attribute__((destructor)) static void end(void)
{
	if (sends)
		printf("the tool in front saw %d sends\n", sends);
}
