/* Sound programs that do what few do; the first argument chooses the part. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int data[64];
static int handled;
static jmp_buf before;

static void count_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	handled++;
}

static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(before, 1);
}

static void handle_errors(MPI_Comm comm, MPI_Comm_errhandler_function *function)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(function, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Errhandler_free(&handler);
}

/* Rank 1 sends 8 numbers, each time when rank 0 has posted its receives of `room` numbers. */
static void wait_for(int rank, int many, int room)
{
	MPI_Request request[2];
	int code;

	if (rank == 1) {
		MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < many; i++)
			MPI_Send(data, i ? 1 : 8, MPI_INT, 0, 1 + i, MPI_COMM_WORLD);
		return;
	}
	for (int i = 0; i < many; i++)
		MPI_Irecv(data + 8 * i, room, MPI_INT, 1, 1 + i, MPI_COMM_WORLD, &request[i]);
	MPI_Send(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (many == 1)
		code = MPI_Wait(request, MPI_STATUS_IGNORE);
	else
		code = MPI_Waitall(many, request, MPI_STATUSES_IGNORE);
	printf("%s ", code == MPI_SUCCESS ? "received" : "failed");
}

static __attribute__((noinline)) int deep_down(MPI_Comm comm, int depth)
{
	volatile char room[64] = {0};

	if (depth)
		return deep_down(comm, depth - 1) + room[depth];
	return MPI_Send(data, 1, MPI_INT, 99, 1, comm);
}

static void errors(int rank)
{
	MPI_Comm jumping, gone;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 4; i++)
		wait_for(rank, 1, i ? 8 : 1);
	for (int i = 0; i < 4; i++)
		wait_for(rank, 2, i ? 8 : 1);
	MPI_Comm_dup(MPI_COMM_WORLD, &jumping);
	handle_errors(jumping, jump);
	if (!setjmp(before))
		deep_down(jumping, 3);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 9; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_free(&jumping);
	handle_errors(MPI_COMM_WORLD, count_error);
	handle_errors(MPI_COMM_SELF, count_error);
#ifndef OPEN_MPI /* which looks into a freed communicator */
	MPI_Comm_dup(MPI_COMM_WORLD, &gone);
	jumping = gone;
	MPI_Comm_free(&gone);
	MPI_Send(data, 1, MPI_INT, 0, 1, jumping);
	MPI_Bcast(data, 1, MPI_INT, 0, jumping);
	handled -= 2;
#else
	(void)gone;
#endif
	if (!rank)
		printf("%d errors too many\n", handled);
}

/* Types that only MPI_Type_get_envelope_c() takes. */
static void large_types(void)
{
#if MPI_VERSION >= 4
	MPI_Datatype contiguous, vector;

	MPI_Type_contiguous_c(4, MPI_INT, &contiguous);
	MPI_Type_vector_c(2, 3, 5, MPI_INT, &vector);
	MPI_Type_commit(&contiguous);
	MPI_Type_commit(&vector);
	MPI_Send(data, 1, contiguous, MPI_PROC_NULL, 1, MPI_COMM_SELF);
	MPI_Send(data, 1, vector, MPI_PROC_NULL, 1, MPI_COMM_SELF);
	MPI_Type_free(&contiguous);
	MPI_Type_free(&vector);
#endif
}

static MPI_Comm inner;

static int free_inner(MPI_Comm comm, int key, void *value, void *state)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)state;
	return MPI_Comm_free(&inner);
}

/* A callback frees a communicator; the next one may have its handle. */
static void nested_free(void)
{
	int key;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
	for (int i = 0; i < 3; i++) {
		MPI_Comm outer;

		MPI_Comm_dup(MPI_COMM_SELF, &outer);
		MPI_Comm_dup(MPI_COMM_WORLD, &inner);
		MPI_Comm_set_attr(outer, key, data);
		MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 2, inner);
		MPI_Comm_delete_attr(outer, key);
		MPI_Comm_free(&outer);
	}
	MPI_Comm_free_keyval(&key);
}

/* A message is received when its communicator is freed. */
static void matched(void)
{
	MPI_Comm comm;
	MPI_Message message;
	MPI_Request request;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Isend(data, 1, MPI_INT, 0, 3, comm, &request);
	MPI_Mprobe(0, 3, comm, &message, MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
	MPI_Mrecv(data + 8, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static MPI_Datatype type;

static void *free_type(void *unused)
{
	MPI_Type_free(&type);
	return unused;
}

/* The first call of a thread frees a type; the next one may have its handle. */
static void freed_elsewhere(void)
{
	for (int n = 4; n <= 9; n += 5) {
		pthread_t thread;

		MPI_Type_contiguous(n, MPI_INT, &type);
		MPI_Type_commit(&type);
		MPI_Send(data, 1, type, MPI_PROC_NULL, 4, MPI_COMM_SELF);
		pthread_create(&thread, NULL, free_type, NULL);
		pthread_join(thread, NULL);
	}
}

static MPI_Comm polled;
static pthread_barrier_t meeting, closing;

static void poll(MPI_Comm comm)
{
	int found;

	for (int i = 0; i < 5; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 5, comm, &found, MPI_STATUS_IGNORE);
}

/* It polls in vain and calls MPI again when the communicator is freed, or never again. */
static void *poller(void *again)
{
	poll(polled);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	if (again)
		poll(MPI_COMM_WORLD);
	else
		pthread_barrier_wait(&closing);
	return NULL;
}

static void handles(void)
{
	pthread_t thread[2];
	MPI_Comm unseen;

	large_types();
	nested_free();
	matched();
	freed_elsewhere();
	pthread_barrier_init(&meeting, NULL, 3);
	pthread_barrier_init(&closing, NULL, 2);
	MPI_Comm_dup(MPI_COMM_WORLD, &polled);
	pthread_create(&thread[0], NULL, poller, NULL);
	pthread_create(&thread[1], NULL, poller, &meeting);
	pthread_barrier_wait(&meeting);
	MPI_Comm_free(&polled);
	pthread_barrier_wait(&meeting);
	pthread_join(thread[1], NULL);
	PMPI_Comm_dup(MPI_COMM_WORLD, &unseen);
	poll(unseen);
	MPI_Finalize();
	pthread_barrier_wait(&closing);
	pthread_join(thread[0], NULL);
}

/* The program ends while a thread that called MPI is alive. */
static void *caller(void *unused)
{
	for (int i = 0; i < 3; i++)
		MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	return unused;
}

static void end_early(void)
{
	pthread_t thread;

	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&thread, NULL, caller, NULL);
	pthread_barrier_wait(&meeting);
	exit(7);
}

/* A thread lives through two worlds of sessions. */
#define SENDS 1000
static MPI_Comm world;

static void *sender(void *unused)
{
	for (int i = 0; i < 2; i++) {
		pthread_barrier_wait(&meeting);
		for (int k = 0; k < SENDS; k++)
			MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, k % 50, world);
		pthread_barrier_wait(&meeting);
	}
	return unused;
}

static void sessions(void)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
	pthread_t thread;
	MPI_Info info;

	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&thread, NULL, sender, NULL);
	for (int i = 0; i < 2; i++) {
		MPI_Session session;
		MPI_Group group;

		MPI_Info_create(&info);
		MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
		MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
		MPI_Info_free(&info);
		MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
		MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
					   &world);
		MPI_Group_free(&group);
		pthread_barrier_wait(&meeting);
		pthread_barrier_wait(&meeting);
		MPI_Comm_free(&world);
		MPI_Session_finalize(&session);
	}
	pthread_join(thread, NULL);
#else
	printf("no sessions, ");
	(void)sender;
	(void)world;
#endif
}

/* As MPICH does; an error, no crash. The headers promise the compiler that there is a path. */
static void without_a_path(void)
{
	const char *volatile nothing = NULL;
	int result = unlink(nothing);

	printf("unlink %d %s\n", result, errno == EFAULT ? "bad address" : "?");
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	int granted, rank, threads;

	if (!strcmp(part, "sessions")) {
		sessions();
		puts("the end");
		return 0;
	}
	threads = !strcmp(part, "handles") || !strcmp(part, "exit");
	MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &granted);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (threads && granted != MPI_THREAD_MULTIPLE) {
		printf("no threads, ");
		threads = 0;
	}
	if (threads && !strcmp(part, "exit"))
		end_early();
	if (!strcmp(part, "path"))
		without_a_path();
	if (!strcmp(part, "errors"))
		errors(rank);
	if (!strcmp(part, "control"))
		MPI_Pcontrol(1, "region", 7, 2.5, "second", 8, 3.5, "third", 9L);
	if (threads)
		handles();
	else
		MPI_Finalize();
	if (!rank)
		puts("the end");
	return 0;
}
