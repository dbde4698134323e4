/* Another tool that sits behind the recorder and counts sends, and prints what Pcontrol says. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, type, dest, tag, comm);
}

/* Its program passes all these behind the level; calls without them are not for this tool. */
int MPI_Pcontrol(const int level, ...)
{
	va_list list;

	va_start(list, level);
	printf("level %d:", level);
	for (int i = 0; i < 2; i++) {
		printf(" %s", va_arg(list, const char *));
		printf(" %d", va_arg(list, int));
		printf(" %g", va_arg(list, double));
	}
	printf(" %s", va_arg(list, const char *));
	printf(" %ld\n", va_arg(list, long));
	va_end(list);
	return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
	printf("the other tool saw %d sends\n", sends);
	return PMPI_Finalize();
}
