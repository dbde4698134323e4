/* Ways in which programs end, pause and fail; the first argument chooses one. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void control(void)
{
	for (int i = 0; i < 10; i++) {
		if (i == 3)
			MPI_Pcontrol(0);
		if (i == 6)
			MPI_Pcontrol(1);
		if (i == 8)
			MPI_Pcontrol(42);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Count the calls that are done where the parent can read it after a kill. */
static void counted(const char *path, int delay)
{
	int file = open(path, O_RDWR | O_CREAT, 0600);
	volatile long *done;

	if (file < 0 || ftruncate(file, sizeof(*done)))
		exit(9);
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (long i = 0;; i++) {
		MPI_Send(&delay, 1, MPI_INT, MPI_PROC_NULL, (int)(i % 1000), MPI_COMM_WORLD);
		*done = i + 1;
		if (i % 100 == 99)
			usleep((useconds_t)delay);
	}
}

static void child(void)
{
	pid_t pid = fork();

	if (!pid) {
		/* What a child may do: nothing with MPI, but its exit handlers run. */
		exit(0);
	}
	waitpid(pid, NULL, 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void errors(void)
{
	int number = 0, size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	printf("failed %d\n", MPI_Send(&number, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD) != 0);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Calls that are all different, when asked for below a limit on the size of files. */
static void many(long n, long most_bytes)
{
	struct rlimit limit = {(rlim_t)most_bytes, (rlim_t)most_bytes};

	if (most_bytes)
		setrlimit(RLIMIT_FSIZE, &limit);
	for (long i = 0; i < n; i++)
		MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, (int)(i * 7919 % 30011), MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(how, "control"))
		control();
	if (!strcmp(how, "counted"))
		counted(argv[2], atoi(argv[3]));
	if (!strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 6);
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "fork"))
		child();
	if (!strcmp(how, "errors"))
		errors();
	if (!strcmp(how, "many"))
		many(atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
	if (!rank)
		printf("the end\n");
	MPI_Finalize();
	return 0;
}
