/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that open MPI with sessions only. There is no communicator of all processes at first,
 * and not all processes need to open a session, so recording begins with the first communicator
 * that the program makes of all processes. It stands in the trace as MPI_COMM_WORLD does.
 */
#include "lifecycle/session.h"

#include "base/clock.h"
#include "base/mpi_library.h"
#include "lifecycle/start.h"
#include "phases/measured_run.h"

static struct {
	unsigned open; /* sessions */
	bool waiting;  /* for that communicator */
	int processes;
	uint32_t function;
	uint64_t site;
	uint64_t ticks; /* when the first session was open */
	MPI_Comm self;  /* this process alone, while recording */
} session;

/* A function that opens or closes sessions is running: Fortran's call those of C. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* Such a function begins; false: it was called by another one. */
bool skelgen_session_enter(void)
{
	bool outer = !inside;

	inside = true;
	return outer;
}

void skelgen_session_leave(bool outer)
{
	inside = !outer;
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_SESSIONS 1
#else
#define HAS_SESSIONS 0
#endif

#if HAS_SESSIONS
static MPI_Session session_of(const void *handle, bool fortran)
{
#if defined(MPI_Session_f2c)
	if (fortran)
		return MPI_Session_f2c(*(const MPI_Fint *)handle);
#elif !defined(MPI_ABI_VERSION)
	__typeof__(&PMPI_Session_f2c) f2c;

	*(void **)&f2c = skelgen_symbol("PMPI_Session_f2c");
	if (fortran && f2c)
		return f2c(*(const MPI_Fint *)handle);
#else
	(void)fortran; /* it has none */
#endif
	return *(const MPI_Session *)handle;
}
#endif

/* How many processes there are; 0: unknown. */
static int count_processes(const void *handle, bool fortran)
{
	int size = 0;
#if HAS_SESSIONS
	__typeof__(&PMPI_Group_from_session_pset) group_of;
	MPI_Group group;

	*(void **)&group_of = skelgen_symbol("PMPI_Group_from_session_pset");
	if (!group_of ||
	    group_of(session_of(handle, fortran), "mpi://WORLD", &group) != MPI_SUCCESS)
		return 0;
	pmpi.Group_size(group, &size);
	pmpi.Group_free(&group);
#else
	(void)handle;
	(void)fortran;
#endif
	return size;
}

/* MPI_Session_init returned; `first`: skelgen_init_begin() took the time before it. */
void skelgen_session_opened(int code, bool first, const void *handle, bool fortran,
			    uint32_t function, uint64_t site)
{
	uint64_t ticks = skelgen_ticks();

	if (code == MPI_SUCCESS)
		__atomic_fetch_add(&session.open, 1, __ATOMIC_RELAXED);
	if (!first || !skelgen_init_done(code))
		return;
	session.function = function;
	session.site = site;
	session.ticks = ticks;
	session.processes = count_processes(handle, fortran);
	session.waiting = true;
}

/* A communicator was made of a group. */
void skelgen_session_joined(int code, const MPI_Comm *created)
{
	uint64_t begin = skelgen_now();
	int size = 0;
	int rank = 0;

	if (!session.waiting || skelgen.taking_part || code != MPI_SUCCESS ||
	    *created == mpi.comm_null)
		return;
	pmpi.Comm_size(*created, &size);
	if (size != session.processes)
		return;
	session.waiting = false;
	pmpi.Comm_rank(*created, &rank);
	pmpi.Comm_split(*created, rank, 0, &session.self);
	mpi.comm_world = *created;
	mpi.comm_self = session.self;
	skelgen.world_model = false;
	skelgen_start(session.function, session.site, session.ticks, begin);
	if (!skelgen.taking_part)
		pmpi.Comm_free(&session.self);
}

/* MPI_Session_finalize is about to be called: the last one ends the recording. */
struct skelgen_finalize skelgen_session_closing(bool outer)
{
	struct skelgen_finalize state = {NULL, 0, false};

	skelgen_resolve();
	if (!outer || !session.open || __atomic_sub_fetch(&session.open, 1, __ATOMIC_RELAXED))
		return state;
	session.waiting = false;
	if (skelgen_measuring && !skelgen.world_model)
		skelgen_phase_end(true);
	if (!skelgen.taking_part || skelgen.world_model)
		return state;
	state = skelgen_ending();
	pmpi.Comm_free(&session.self);
	return state;
}
