/*
 * Memory of large arrays; a part of fold.c.
 */
#define LARGE_PAGE ((size_t)2 << 20)

/* Returns memory in large pages, where the system has them: it is read in no order. */
static void *in_large_pages(size_t size, bool zero)
{
	void *memory = zero ? calloc(size, 1) : malloc(size);
	uintptr_t begin = ((uintptr_t)memory + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(LARGE_PAGE - 1);

	if (memory && begin < end)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
	return memory;
}
