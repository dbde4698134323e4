/* Communicators and datatypes that come and go, on four ranks. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int rank;

static void grid(void)
{
	int dims[2] = {2, 2}, periods[2] = {1, 0}, keep[2] = {0, 1};
	MPI_Comm cart, row;

	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	MPI_Cart_sub(cart, keep, &row);
	MPI_Barrier(row);
	MPI_Comm_free(&row);
	MPI_Comm_free(&cart);
}

static void groups(void)
{
	MPI_Group world, part;
	MPI_Comm comm, inter, merged;
	int members[2] = {3, 1};

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, members, &part);
	if (rank % 2) {
		MPI_Comm_create_group(MPI_COMM_WORLD, part, 4, &comm);
		MPI_Barrier(comm);
		MPI_Comm_free(&comm);
	}
	MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
	MPI_Group_free(&part);
	MPI_Group_free(&world);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &comm);
	MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, rank < 2 ? 3 : 1, 5, &inter);
	MPI_Barrier(inter);
	MPI_Intercomm_merge(inter, rank < 2, &merged);
	MPI_Barrier(merged);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&comm);
}

/* The handle comes back for another communicator, and for another datatype. */
static void again(void)
{
	uintptr_t first = 0;
	int same = 0;

	for (int i = 0; i < 3; i++) {
		MPI_Comm comm;
		MPI_Datatype type;
		int color = rank % 2 == i % 2 ? 0 : MPI_UNDEFINED;

		MPI_Comm_split(MPI_COMM_WORLD, color, rank, &comm);
		MPI_Type_contiguous(i + 1, MPI_INT, &type);
		MPI_Type_commit(&type);
		if (comm != MPI_COMM_NULL) {
			char buffer[64] = "";

			same += (uintptr_t)comm == first;
			first = (uintptr_t)comm;
			MPI_Bcast(buffer, 1, type, 0, comm);
			MPI_Comm_free(&comm);
		}
		MPI_Type_free(&type);
	}
	(void)same;
}

static void later(void)
{
	MPI_Comm comm;
	MPI_Request request;

	MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(comm);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	MPI_Comm copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Barrier(copy);
	grid();
	groups();
	again();
	later();
	MPI_Comm_free(&copy);
	if (!rank)
		printf("done\n");
	MPI_Finalize();
	return 0;
}
