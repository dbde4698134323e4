/* Calls a function of a library, built with -DLIBRARY, that is called as one of the system. */
#ifdef LIBRARY
int times(int one, int other)
{
	return one * other;
}
#else
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int times(int one, int other);

int main(int argc, char **argv)
{
	int (*found)(int, int);

	MPI_Init(&argc, &argv);
	*(void **)&found = dlsym(RTLD_DEFAULT, "times");
	if (times(6, 7) == 42 && found == times)
		printf("the library's own\n");
	MPI_Finalize();
	return 0;
}
#endif
