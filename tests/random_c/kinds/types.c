/* Kinds of step: messages of derived types. */

/* Send one element of a type and receive it as one; look at the whole buffer. */
static void exchange(struct step *s, MPI_Datatype type, int n)
{
	int *out = fill(s, n), *in = in_of(s);

	memset(in, 0, (size_t)n * sizeof(int));
	MPI_Type_commit(&type);
	MPI_Irecv(in, 1, type, previous_in(s), s->tag, group_of(s)->comm, &s->request[0]);
	MPI_Send(out, 1, type, next_in(s), s->tag, group_of(s)->comm);
	MPI_Wait(&s->request[0], MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
	take(s, in, n);
}

/* Kind: vectors: every third element, or pairs of them. */
static void vectors(struct step *s)
{
	MPI_Datatype type;
	int length = 1 + s->variant % 2;

	MPI_Type_vector(s->count, length, 3, MPI_INT, &type);
	exchange(s, type, 3 * s->count);
}

/* Kind: vectors with a stride in bytes, of contiguous pairs. */
static void byte_vectors(struct step *s)
{
	MPI_Datatype pair, type;

	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_create_hvector(s->count, 1, 4 * (MPI_Aint)sizeof(int), pair, &type);
	MPI_Type_free(&pair);
	exchange(s, type, 4 * s->count);
}

/* Kind: indexed blocks of different lengths. */
static void indexed(struct step *s)
{
	int lengths[4] = {1, 0, 3, 2}, places[4] = {9, 1, 2, 6};
	MPI_Datatype type;

	MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
	exchange(s, type, 10);
}

/* Kind: indexed blocks of equal lengths. */
static void indexed_blocks(struct step *s)
{
	int places[3] = {0, 7, 3};
	MPI_Aint bytes[3] = {0, 28, 12};
	MPI_Datatype type;

	if (s->variant % 2)
		MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type);
	else
		MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type);
	exchange(s, type, 10);
}

/* Kind: blocks at places in bytes. */
static void byte_indexed(struct step *s)
{
	int lengths[3] = {2, 1, 4};
	MPI_Aint places[3] = {4, 20, 32};
	MPI_Datatype type;

	MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &type);
	exchange(s, type, 12);
}

/* Kind: structures of integers, doubles and characters. */
static void structures(struct step *s)
{
	int lengths[3] = {1, 1, 8};
	MPI_Aint places[3] = {0, 8, 16};
	MPI_Datatype parts_of[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, type;

	MPI_Type_create_struct(3, lengths, places, parts_of, &type);
	exchange(s, type, 6);
}

/* Kind: a rectangle of an array. */
static void subarrays(struct step *s)
{
	int sizes[2] = {s->count, 6}, inner[2] = {(s->count + 1) / 2, 3};
	int starts[2] = {s->count / 2, s->variant % 4};
	MPI_Datatype type;

	inner[0] = s->count - starts[0];
	MPI_Type_create_subarray(2, sizes, inner, starts, MPI_ORDER_C, MPI_INT, &type);
	exchange(s, type, 6 * s->count);
}

/* Kind: a column as a type that is resized, so that columns stand side by side. */
static void resized(struct step *s)
{
	const struct group *g = group_of(s);
	int n = g->size, *out = fill(s, n * n), *in = in_of(s);
	MPI_Datatype column, type;

	MPI_Type_vector(n, 1, n, MPI_INT, &column);
	MPI_Type_create_resized(column, 0, (MPI_Aint)sizeof(int), &type);
	MPI_Type_commit(&type);
	MPI_Alltoall(out, 1, type, in, n, MPI_INT, g->comm);
	take(s, in, n * n);
	MPI_Type_free(&type);
	MPI_Type_free(&column);
}

/* Kind: a part of a distributed array, which is duplicated. */
static void distributed_arrays(struct step *s)
{
	int sizes = 8, how = MPI_DISTRIBUTE_CYCLIC, argument = 1, processes = 2;
	MPI_Datatype type, twin;

	MPI_Type_create_darray(2, s->variant % 2, 1, &sizes, &how, &argument, &processes,
			       MPI_ORDER_C, MPI_INT, &type);
	MPI_Type_dup(type, &twin);
	MPI_Type_free(&type);
	exchange(s, twin, 8);
}

/* Kind: data that is packed by hand. */
static void packed(struct step *s)
{
	const struct group *g = group_of(s);
	int place = 0, size, *in = in_of(s), data[4];
	double real = s->trip, other;
	char *out = (char *)fill(s, s->count + 8);

	for (int i = 0; i < 4; i++)
		data[i] = s->trip + i + g->rank;
	MPI_Pack_size(4, MPI_INT, g->comm, &size);
	MPI_Pack(data, 4, MPI_INT, out, 32, &place, g->comm);
	MPI_Pack(&real, 1, MPI_DOUBLE, out, 32, &place, g->comm);
	MPI_Sendrecv(out, place, MPI_PACKED, next_in(s), s->tag, in, 32, MPI_PACKED, previous_in(s),
		     s->tag, g->comm, MPI_STATUS_IGNORE);
	place = 0;
	MPI_Unpack(in, 32, &place, data, 4, MPI_INT, g->comm);
	MPI_Unpack(in, 32, &place, &other, 1, MPI_DOUBLE, g->comm);
	take(s, data, 4);
	note(s, (int)other);
}

/* Kind: collectives of vectors with holes. */
static void collectives_with_holes(struct step *s)
{
	const struct group *g = group_of(s);
	int n = 2 * s->count, *data = fill(s, n);
	MPI_Datatype type;

	MPI_Type_vector(s->count, 1, 2, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Bcast(data, 1, type, root_of(s), g->comm);
	take(s, data, n);
	memset(in_of(s), 0, (size_t)(n * g->size) * sizeof(int));
	MPI_Allgather(data, 1, type, in_of(s), s->count, MPI_INT, g->comm);
	take(s, in_of(s), s->count * g->size);
	MPI_Type_free(&type);
}
