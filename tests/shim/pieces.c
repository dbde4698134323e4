/* Sends one element of datatypes that lie in pieces in memory, with the number of the type as tag.
 */
#include <mpi.h>

/* More blocks than the recorder looks at. */
enum { MANY = 70000 };

static double data[2 * MANY];
static int ones[MANY], apart[MANY];

static void put(MPI_Datatype type, int number)
{
	MPI_Type_commit(&type);
	MPI_Send(data, 1, type, MPI_PROC_NULL, number, MPI_COMM_WORLD);
	MPI_Type_free(&type);
}

/* A part of an array of 6 x 5 x 4 numbers: planes, rows or single ones of each row. */
static void put_part(int planes, int rows, int columns, int order, int number)
{
	int sizes[] = {6, 5, 4}, parts[] = {planes, rows, columns}, begin[] = {0, 0, 0};
	MPI_Datatype type;

	MPI_Type_create_subarray(3, sizes, parts, begin, order, MPI_DOUBLE, &type);
	put(type, number);
}

int main(int argc, char **argv)
{
	int lengths[] = {1, 0, 5}, at[] = {0, 7, 9}, counts[1] = {2}, zero[1] = {0};
	MPI_Aint bytes_at[] = {0, 64, 128};
	MPI_Datatype type, inner, mixed[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};

	MPI_Init(&argc, &argv);
	for (int i = 0; i < MANY; i++) {
		ones[i] = 1;
		apart[i] = 2 * i;
	}
	MPI_Type_vector(10, 3, 5, MPI_DOUBLE, &type);
	put(type, 1);
	MPI_Type_create_hvector(10, 2, 64, MPI_INT, &type);
	put(type, 2);
	MPI_Type_indexed(3, lengths, at, MPI_DOUBLE, &type);
	put(type, 3);
	MPI_Type_create_hindexed(3, lengths, bytes_at, MPI_DOUBLE, &type);
	put(type, 4);
	MPI_Type_create_indexed_block(3, 2, at, MPI_DOUBLE, &type);
	put(type, 5);
	MPI_Type_create_struct(3, lengths, bytes_at, mixed, &type);
	put(type, 6);
	MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &inner);
	MPI_Type_vector(3, 2, 4, inner, &type);
	put(type, 7);
	MPI_Type_create_resized(inner, 0, 512, &type);
	put(type, 8);
	MPI_Type_dup(inner, &type);
	put(type, 9);
	MPI_Type_contiguous(6, inner, &type);
	put(type, 10);
	MPI_Type_indexed(3, lengths, at, inner, &type);
	put(type, 17);
	MPI_Type_indexed(MANY, ones, apart, MPI_DOUBLE, &type);
	put(type, 18);
	MPI_Type_free(&inner);
	MPI_Type_contiguous(6, MPI_DOUBLE, &type);
	put(type, 11);
	put_part(3, 5, 4, MPI_ORDER_C, 12);
	put_part(3, 2, 4, MPI_ORDER_C, 13);
	put_part(3, 2, 2, MPI_ORDER_C, 14);
	put_part(6, 2, 2, MPI_ORDER_FORTRAN, 15);
	put_part(3, 5, 4, MPI_ORDER_FORTRAN, 16);
	MPI_Type_vector(10, 8, 16, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	MPI_Alltoallw(data, counts, zero, &type, data + 2048, counts, zero, &type, MPI_COMM_SELF);
	MPI_Type_free(&type);
	MPI_Finalize();
	return 0;
}
