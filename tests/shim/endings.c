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

/*
 * Count the calls that are done where the parent can read it after a kill: calls of many kinds
 * and shapes, so that definitions are written all the time.
 */
static void counted(const char *path, int delay)
{
	int file = open(path, O_RDWR);
	int flag, got, random = 1;
	volatile long *done;
	MPI_Request request;

	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file < 0 || done == MAP_FAILED)
		exit(9);
	for (long i = 0;; i++) {
		int tag = (random = random * 1103515245 + 12345) >> 4 & 0x3fff;

		MPI_Send(&delay, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
		++*done;
		MPI_Irecv(&got, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
		++*done;
		MPI_Send(&delay, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
		++*done;
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		++*done;
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE); /* of a null request: true */
		++*done;
		MPI_Bcast(&got, tag % 3, MPI_INT, 0, MPI_COMM_SELF);
		++*done;
		if (delay && i % 16 == 15)
			usleep((useconds_t)delay);
	}
}

/* What a rank may start: shells, pipes, a child that ends by itself. */
static void children(void)
{
	char line[80] = "";
	pid_t pid = fork();
	FILE *pipe;

	if (!pid)
		exit(0); /* nothing with MPI, but its exit handlers run */
	waitpid(pid, NULL, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	fflush(stdout);
	if (system("echo a shell"))
		exit(8);
	MPI_Barrier(MPI_COMM_WORLD);
	pipe = popen("echo a pipe", "r");
	while (fgets(line, sizeof(line), pipe))
		printf("%s", line);
	pclose(pipe);
	pid = fork();
	if (!pid) {
		execlp("true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The calls that MPI allows while it is closed. */
static void outside(int version)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int flag, major, minor, length;

	MPI_Get_version(&major, &minor);
	MPI_Get_library_version(text, &length);
	MPI_Initialized(&flag);
	printf("%d %d", flag, length > 0 && major >= version);
	MPI_Finalized(&flag);
	printf(" %d\n", flag);
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

	if (!strcmp(how, "outside"))
		outside(3);
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
	if (!strcmp(how, "children"))
		children();
	if (!strcmp(how, "errors"))
		errors();
	if (!strcmp(how, "many"))
		many(atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
	if (!rank)
		printf("the end\n");
	MPI_Finalize();
	if (!strcmp(how, "outside"))
		outside(3);
	return 0;
}
