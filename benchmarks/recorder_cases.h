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
