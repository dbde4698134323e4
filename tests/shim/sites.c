/* One call site that two functions call, which a third one calls. */
#include <mpi.h>

static __attribute__((noinline)) void send(int tag)
{
	MPI_Send(&tag, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static __attribute__((noinline)) void left(void)
{
	send(1);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void right(void)
{
	send(2);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void both(void)
{
	left();
	right();
	left();
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	int flag;

	MPI_Init(&argc, &argv);
	both();
	both();
	for (int i = 0; i < 5; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
