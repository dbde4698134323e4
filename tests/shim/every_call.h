/*
 * What the generated program of every_call.py needs around the calls. Everything that is not
 * under test is called as PMPI_, which the recorder does not see. Where a library lacks a
 * function, HAVE_ is not defined for it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static int argument_count;
static char **arguments;

/* Made once, used by many calls. */
static MPI_Comm cart, graph, dist, inter;
static MPI_Group group, world_group, mine, theirs;
static MPI_Info info;
static MPI_Datatype made;
static MPI_Win win, plain, dynamic; /* win is always inside a lock_all epoch */
static MPI_File file;
static MPI_Status status;
static int comm_keyval, type_keyval, win_keyval;
#ifdef HAVE_MPI_Session_init
static MPI_Session session, new_session;
#endif

/* Made by one call and freed behind it. */
static MPI_Comm new_comm;
static MPI_Group new_group;
static MPI_Info new_info;
static MPI_Datatype new_type;
static MPI_Win new_win;
static MPI_File new_file;
static MPI_Op new_op;
static MPI_Errhandler new_errhandler;
static MPI_Message message;
static MPI_Request request, requests[2];
static MPI_Status statuses[4];
static void *pointer;
static int number, keyval;

/* Memory for messages, strings, windows, attached buffers. */
static double out[512], in[512], memory[512], buffer[8192];
static char text[8192];
static char service[128];

/* Say which call is next: the last one said is the one that crashes or hangs. */
static void enter(const char *name)
{
	dprintf(STDERR_FILENO, "%d: %s\n", rank, name);
}

static void check(const char *name, int code)
{
	char reason[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (code == MPI_SUCCESS)
		return;
	PMPI_Error_string(code, reason, &length);
	for (char *p = reason; *p; p++)
		if (*p == '\n')
			*p = ' ';
	printf("failed %s %s\n", name, reason);
}

/* A name that was not used before, in this and other ranks. */
static const char *unique(const char *what)
{
	static char name[128];
	static int used;

	snprintf(name, sizeof(name), "skelgen-%s-%d-%d-%d", what, (int)getpid(), rank, used++);
	return name;
}

/* Callbacks */
static void handle_comm(MPI_Comm *of, int *code, ...)
{
	(void)of;
	(void)code;
}

static void handle_file(MPI_File *of, int *code, ...)
{
	(void)of;
	(void)code;
}

static void handle_win(MPI_Win *of, int *code, ...)
{
	(void)of;
	(void)code;
}

#ifdef HAVE_MPI_Session_init
static void handle_session(MPI_Session *of, int *code, ...)
{
	(void)of;
	(void)code;
}
#endif

static void reduce(void *a, void *b, int *n, MPI_Datatype *type)
{
	(void)a;
	(void)b;
	(void)n;
	(void)type;
}

#ifdef HAVE_MPI_Op_create_c
static void reduce_c(void *a, void *b, MPI_Count *n, MPI_Datatype *type)
{
	(void)a;
	(void)b;
	(void)n;
	(void)type;
}
#endif

static int representation_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
	(void)type;
	(void)state;
	*extent = 4;
	return MPI_SUCCESS;
}

static int query(void *state, MPI_Status *of)
{
	(void)state;
	PMPI_Status_set_elements(of, MPI_INT, 1);
	PMPI_Status_set_cancelled(of, 0);
	of->MPI_SOURCE = MPI_UNDEFINED;
	of->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int release(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

/* A request that is complete at once, and a persistent one. */
static void begin_request(void)
{
	PMPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &request);
	requests[0] = request;
}

static void begin_persistent(void)
{
	PMPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &request);
	requests[0] = request;
}

#ifdef HAVE_MPI_Psend_init
/* A partitioned message to this rank itself, both ends started. */
static void begin_partitioned(void)
{
	PMPI_Psend_init(out, 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
	PMPI_Precv_init(in, 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
	PMPI_Startall(2, requests);
}

static void end_partitioned(void)
{
	PMPI_Waitall(2, requests, statuses);
	PMPI_Request_free(&requests[0]);
	PMPI_Request_free(&requests[1]);
}

static void run_partitioned(void)
{
	PMPI_Startall(2, requests);
	PMPI_Pready(0, requests[0]);
	end_partitioned();
}
#endif

/* The other half of an access epoch with this rank itself. */
static void begin_access(void)
{
	PMPI_Win_post(group, 0, plain);
	PMPI_Win_start(group, 0, plain);
}

/* A port, in `text`; some libraries have none. */
static void begin_port(void)
{
	if (PMPI_Open_port(MPI_INFO_NULL, text) != MPI_SUCCESS)
		strcpy(text, "no port");
}

static void end_port(void)
{
	if (strcmp(text, "no port") != 0)
		PMPI_Close_port(text);
}

/* A name to publish, in `service`, and its port. */
static void begin_service(void)
{
	begin_port();
	strcpy(service, unique("service"));
}

static void free_win(void)
{
	PMPI_Win_free(&new_win);
}

static void open_file(void)
{
	PMPI_File_open(MPI_COMM_SELF, unique("file"),
		       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		       &new_file);
}

static void make_objects(void)
{
	static int one[] = {1}, zero[] = {0};
	static char zeros[8192];
	int others[] = {0};

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	PMPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &status);
	PMPI_Cart_create(MPI_COMM_SELF, 1, one, one, 0, &cart);
	PMPI_Graph_create(MPI_COMM_SELF, 1, one, zero, 0, &graph);
	PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zero, MPI_UNWEIGHTED, 1, zero,
					MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
	PMPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 1, &inter);
	PMPI_Comm_group(MPI_COMM_SELF, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
	others[0] = rank;
	PMPI_Group_incl(world_group, 1, others, &mine);
	others[0] = 1 - rank;
	PMPI_Group_incl(world_group, 1, others, &theirs);
	PMPI_Info_create(&info);
	PMPI_Info_set(info, "skelgen", "1");
	PMPI_Type_contiguous(1, MPI_INT, &made);
	PMPI_Type_commit(&made);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL);
	PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL);
	PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_keyval, NULL);
	PMPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_SELF, &pointer, &win);
	PMPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_SELF, &pointer, &plain);
	PMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &dynamic);
	PMPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	PMPI_Win_set_errhandler(plain, MPI_ERRORS_RETURN);
	PMPI_Win_lock_all(0, win);
	open_file();
	file = new_file;
	PMPI_File_write_at(file, 0, zeros, sizeof(zeros), MPI_BYTE, &status);
#ifdef HAVE_MPI_Session_init
	PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
#endif
}

static void free_objects(void)
{
	PMPI_Win_unlock_all(win);
	PMPI_Win_free(&win);
	PMPI_Win_free(&plain);
	PMPI_Win_free(&dynamic);
	PMPI_File_close(&file);
#ifdef HAVE_MPI_Session_init
	PMPI_Session_finalize(&session);
#endif
}
