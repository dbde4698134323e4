/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is measured. Included three times, with the calls named PMPI_ (plain), MPI_ (recorded)
 * and floor_. Each function makes `calls` calls, rounded up to whole rounds.
 */

static NOINLINE void CASE(send)(int calls)
{
	for (int i = 0; i < calls; i++)
		CALL(Send)(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static NOINLINE void CASE(allreduce)(int calls)
{
	for (int i = 0; i < calls; i++)
		CALL(Allreduce)(buffer, buffer + 1, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static NOINLINE void CASE(request)(int calls)
{
	MPI_Request request;

	for (int i = 0; i < calls; i += 2) {
		CALL(Irecv)(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
		CALL(Wait)(&request, MPI_STATUS_IGNORE);
	}
}

static NOINLINE void CASE(wildcard)(int calls)
{
	MPI_Request request;

	for (int i = 0; i < calls; i += 3) {
		CALL(Irecv)(buffer, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF,
			    &request);
		CALL(Send)(buffer + 1, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
		CALL(Wait)(&request, MPI_STATUS_IGNORE);
	}
}

static NOINLINE void CASE(iprobe)(int calls)
{
	int flag;

	for (int i = 0; i < calls; i++)
		CALL(Iprobe)(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* Two polls in turn, as of a rank that waits for a message or for its own send. */
static NOINLINE void CASE(polls)(int calls)
{
	MPI_Request request;
	int flag;

	CALL(Irecv)(buffer, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request);
	for (int i = 0; i < calls; i += 2) {
		CALL(Iprobe)(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		CALL(Test)(&request, &flag, MPI_STATUS_IGNORE);
	}
	PMPI_Cancel(&request);
	CALL(Wait)(&request, MPI_STATUS_IGNORE);
}

/* Irregular calls: any of a thousand tags, any size, both, any of 64 places in the program. */
static NOINLINE void CASE(tags)(int calls)
{
	for (int i = 0; i < calls; i++)
		CALL(Send)(many, 1, MPI_CHAR, MPI_PROC_NULL, any_of(1000), MPI_COMM_WORLD);
}

static NOINLINE void CASE(sizes)(int calls)
{
	for (int i = 0; i < calls; i++)
		CALL(Send)(many, any_of(MANY), MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static NOINLINE void CASE(both)(int calls)
{
	for (int i = 0; i < calls; i++)
		CALL(Send)(many, any_of(MANY), MPI_CHAR, MPI_PROC_NULL, any_of(1000),
			   MPI_COMM_WORLD);
}

/* The empty instruction keeps the compiler from making one place of all. */
#define PLACE(n, size, tag)                                                           \
	case n:                                                                       \
		CALL(Send)(many, size, MPI_CHAR, MPI_PROC_NULL, tag, MPI_COMM_WORLD); \
		__asm__ volatile("" : : "i"(n));                                      \
		break;
#define PLACES_4(n, size, tag)  \
	PLACE(n, size, tag)     \
	PLACE(n + 1, size, tag) \
	PLACE(n + 2, size, tag) \
	PLACE(n + 3, size, tag)
#define PLACES_16(n, size, tag)    \
	PLACES_4(n, size, tag)     \
	PLACES_4(n + 4, size, tag) \
	PLACES_4(n + 8, size, tag) \
	PLACES_4(n + 12, size, tag)
#define PLACES_64(size, tag)     \
	PLACES_16(0, size, tag)  \
	PLACES_16(16, size, tag) \
	PLACES_16(32, size, tag) \
	PLACES_16(48, size, tag)

static NOINLINE void CASE(sites)(int calls)
{
	for (int i = 0; i < calls; i++) {
		switch (any_of(64)) {
			PLACES_64(1, 0)
		}
	}
}

static NOINLINE void CASE(anything)(int calls)
{
	for (int i = 0; i < calls; i++) {
		int size = any_of(MANY);
		int tag = any_of(1000);

		switch (any_of(64)) {
			PLACES_64(size, tag)
		}
	}
}
#undef PLACE
#undef PLACES_4
#undef PLACES_16
#undef PLACES_64

/*
 * Adaptive mesh refinement: every few steps there are other blocks, with numbers, sizes and
 * datatypes of their own, on a communicator of their own. A step exchanges their sides, which
 * arrive in any order, and counts what moves. Returns the calls that it made.
 */
static NOINLINE int CASE(amr_step)(const struct mesh *mesh, MPI_Comm comm,
				   const MPI_Datatype *sides)
{
	MPI_Request requests[2 * BLOCKS];
	int n = 2 * mesh->blocks;
	int peer = ranks - 1 - rank;

	for (int b = 0; b < mesh->blocks; b++)
		CALL(Irecv)(many, 1, sides[b], peer, mesh->tag[b], comm, &requests[b]);
	for (int b = 0; b < mesh->blocks; b++)
		CALL(Isend)(more, 1, sides[b], peer, mesh->tag[b], comm,
			    &requests[mesh->blocks + b]);
	for (int left = n; left > 0; left--) {
		int done;

		CALL(Waitany)(n, requests, &done, MPI_STATUS_IGNORE);
	}
	CALL(Alltoallv)(many, mesh->counts, mesh->places, MPI_CHAR, more, mesh->counts,
			mesh->places, MPI_CHAR, comm);
	CALL(Allreduce)(buffer, buffer + 1, 1, MPI_DOUBLE, MPI_MIN, comm);
	return 2 * n + 2;
}

static NOINLINE void CASE(amr)(int calls)
{
	static struct mesh mesh;
	MPI_Datatype sides[BLOCKS];
	MPI_Comm comm;

	for (int made = 0; made < calls;) {
		refine(&mesh);
		CALL(Comm_split)(MPI_COMM_WORLD, 0, rank, &comm);
		for (int b = 0; b < mesh.blocks; b++) {
			CALL(Type_vector)(1 + mesh.size[b], 1, 2, MPI_CHAR, &sides[b]);
			CALL(Type_commit)(&sides[b]);
		}
		for (int step = 0; step < 4; step++)
			made += CASE(amr_step)(&mesh, comm, sides);
		for (int b = 0; b < mesh.blocks; b++)
			CALL(Type_free)(&sides[b]);
		CALL(Comm_free)(&comm);
		made += 3 * mesh.blocks + 2;
	}
}

/* On a torus of ranks x 1: north and south are this rank itself. */
static NOINLINE void CASE(exchange)(void)
{
	int peer[4] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks, rank, rank};
	MPI_Request requests[8];

	for (int side = 0; side < 4; side++)
		CALL(Irecv)(halo[side], HALO, MPI_DOUBLE, peer[side ^ 1], side, MPI_COMM_WORLD,
			    &requests[side]);
	for (int side = 0; side < 4; side++)
		CALL(Isend)(halo[4 + side], HALO, MPI_DOUBLE, peer[side], side, MPI_COMM_WORLD,
			    &requests[4 + side]);
	CALL(Waitall)(8, requests, MPI_STATUSES_IGNORE);
}

static NOINLINE void CASE(halo)(int calls)
{
	for (int i = 0; i < calls; i += 9)
		CASE(exchange)();
}

/* The same with the computation of a step between two exchanges. */
static NOINLINE void CASE(step)(int calls)
{
	for (int i = 0; i < calls; i += 9) {
		CASE(exchange)();
		relax();
	}
}

/* Eight bytes there and back. */
static NOINLINE void CASE(pingpong)(int calls)
{
	int peer = ranks - 1 - rank;

	for (int i = 0; i < calls; i += 2) {
		if (rank == 0)
			CALL(Send)(buffer, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
		CALL(Recv)(buffer, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != 0)
			CALL(Send)(buffer, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
	}
}
