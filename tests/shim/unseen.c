/* Works in ways that no event of MPI shows: threads, processes, files, a GPU's runtime. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECONDS 300

static double used(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Use so much CPU time, however long it takes [ms]. */
static void compute(double milliseconds)
{
	double end = used(CLOCK_THREAD_CPUTIME_ID) + milliseconds;

	while (used(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *worker(void *argument)
{
	(void)argument;
	compute(MILLISECONDS);
	return NULL;
}

/* Wakes up as a progress thread does that finds nothing to do. */
static void *quiet(void *argument)
{
	(void)argument;
	for (int i = 0; i < 20; i++)
		usleep(10000);
	return NULL;
}

/* Calls MPI and computes while the first thread waits. */
static void *caller(void *argument)
{
	(void)argument;
	MPI_Barrier(MPI_COMM_SELF);
	compute(MILLISECONDS);
	MPI_Barrier(MPI_COMM_SELF);
	return NULL;
}

static void with_thread(void *(*work)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
}

static pid_t child(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		compute(MILLISECONDS);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1) /* a wait for another process, no file */
		abort();
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Fill a file by every function in turn, and read it again. */
static void files(const char *path)
{
	static char data[1 << 20];
	FILE *file = fopen(path, "w+");
	int descriptor = fileno(file);

	for (int i = 0; i < 20; i++) {
		if (fwrite(data, 1, sizeof(data), file) != sizeof(data))
			abort();
		fflush(file);
		if (write(descriptor, data, sizeof(data)) != sizeof(data) ||
		    pwrite(descriptor, data, sizeof(data), 0) != sizeof(data) ||
		    pread(descriptor, data, sizeof(data), 0) != sizeof(data))
			abort();
	}
	fsync(descriptor);
	fclose(file);
	remove(path);
}

int main(int argc, char **argv)
{
	pid_t left = 0;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	compute(20);
	if (strcmp(argv[1], "thread") == 0)
		with_thread(worker);
	if (strcmp(argv[1], "quiet") == 0)
		with_thread(quiet);
	if (strcmp(argv[1], "caller") == 0)
		with_thread(caller);
	if (strcmp(argv[1], "waited") == 0)
		end(child());
	if (strcmp(argv[1], "left") == 0)
		left = child();
	if (strcmp(argv[1], "files") == 0)
		files(argv[2]);
	if (strcmp(argv[1], "load") == 0 && !dlopen(argv[2], RTLD_NOW))
		abort();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	if (left)
		end(left);
	return 0;
}
