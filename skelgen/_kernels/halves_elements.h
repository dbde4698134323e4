/*
 * The requests that a reference names: ages, persistent ones are negative; a part of halves.c.
 */
struct elements {
	const int64_t *values;
	int64_t count;
	int64_t single;
};

static struct elements elements_of(const struct skelgen_half_thread *thread, uint32_t reference)
{
	struct elements found = {.single = reference >> 2};
	int64_t id = reference >> 2;

	switch (reference & 3) {
	case SKELGEN_REF_PERSISTENT:
		found.single = -found.single;
		/* fall through */
	case SKELGEN_REF_AGE:
		found.count = 1;
		break;
	case SKELGEN_REF_LIST:
		if (id < 1 || id > thread->list_count)
			break;
		found.values = thread->list_values + thread->list_first[id - 1];
		found.count = thread->list_first[id] - thread->list_first[id - 1];
		break;
	}
	return found;
}

static int64_t element(const struct elements *elements, int64_t position)
{
	return elements->values ? elements->values[position] : elements->single;
}
