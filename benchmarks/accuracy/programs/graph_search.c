/*
 * graph_search: breadth-first searches of a Kronecker graph from many roots.
 *
 * Graph 500 (Murphy, Wheeler, Barrett, Ang 2010): edges by R-MAT of Chakrabarti, Zhan and
 * Faloutsos (2004), 16 for each vertex; vertices are dealt out to the ranks in turn. The
 * search goes level by level, as Yoo et al. (2005) do with one dimension.
 *
 *     mpirun -n 2 graph_search [log2 of the vertices] [searches]
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES_PER_VERTEX = 16, UNSEEN = -1 };

static int ranks, me, scale, owned; /* vertex v is number v / ranks of rank v % ranks */
static int *first, *target;         /* neighbours of own vertex i: first[i]..first[i + 1] - 1 */
static int *level, *parent, *frontier;

struct post { /* pairs of vertices to all ranks and from all, and their counts as integers */
	int *out, *in, room;
	int *leaving, *coming, *out_at, *in_at;
};

static void *get(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return memory;
}

static uint64_t hash(uint64_t x) /* splitmix64 */
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t scramble(uint64_t v) /* a permutation of the vertices */
{
	uint64_t mask = ((uint64_t)1 << scale) - 1;

	v = (v * 0x9e3779b1u + 12345) & mask;
	v ^= v >> (scale / 2 + 1);
	return (v * 0x85ebca6bu) & mask;
}

static void make_edge(uint64_t number, int edge[2])
{
	uint64_t row = 0, column = 0;

	for (int bit = 0; bit < scale; bit++) { /* quarters: 0.57, 0.19, 0.19, 0.05 */
		uint64_t dice = hash(number * 64 + (uint64_t)bit) % 100;
		row = row << 1 | (dice >= 76);
		column = column << 1 | (dice >= 95 || (dice >= 57 && dice < 76));
	}
	edge[0] = (int)scramble(row);
	edge[1] = (int)scramble(column);
}

static void place(struct post *p) /* the counts in leaving are known: where each part goes */
{
	p->out_at[0] = 0;
	for (int r = 1; r < ranks; r++)
		p->out_at[r] = p->out_at[r - 1] + p->leaving[r - 1];
}

static int deliver(struct post *p) /* return the number of integers that came */
{
	int sum = 0;

	MPI_Alltoall(p->leaving, 1, MPI_INT, p->coming, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; sum += p->coming[r++])
		p->in_at[r] = sum;
	if (sum > p->room) {
		free(p->in);
		p->room = sum;
		p->in = get((size_t)sum, sizeof(int));
	}
	MPI_Alltoallv(p->out, p->leaving, p->out_at, MPI_INT, p->in, p->coming, p->in_at, MPI_INT,
		      MPI_COMM_WORLD);
	return sum;
}

static void put(struct post *p, int *end, int vertex, int other)
{
	int *at = &p->out[end[vertex % ranks]];

	at[0] = vertex;
	at[1] = other;
	end[vertex % ranks] += 2;
}

static int build_graph(struct post *p, int *end) /* return the integers of a full post */
{
	uint64_t edges = (uint64_t)EDGES_PER_VERTEX << scale;
	uint64_t from = edges * (uint64_t)me / (uint64_t)ranks;
	uint64_t to = edges * (uint64_t)(me + 1) / (uint64_t)ranks;
	int (*edge)[2] = get((size_t)(to - from), sizeof *edge);

	p->out = get((size_t)(to - from) * 4, sizeof(int));
	for (uint64_t i = from; i < to; i++) {
		make_edge(i, edge[i - from]);
		p->leaving[edge[i - from][0] % ranks] += 2;
		p->leaving[edge[i - from][1] % ranks] += 2;
	}
	place(p);
	memcpy(end, p->out_at, (size_t)ranks * sizeof(int));
	for (uint64_t i = 0; i < to - from; i++) {
		put(p, end, edge[i][0], edge[i][1]);
		put(p, end, edge[i][1], edge[i][0]);
	}
	int came = deliver(p);
	target = get((size_t)came / 2, sizeof(int));
	for (int i = 0; i < came; i += 2)
		first[p->in[i] / ranks + 2]++;
	for (int i = 2; i < owned + 2; i++)
		first[i] += first[i - 1];
	for (int i = 0; i < came; i += 2)
		target[first[p->in[i] / ranks + 1]++] = p->in[i + 1];
	free(edge);
	free(p->out);
	return came;
}

static void expand(struct post *p, int *end, int waiting) /* edges of the frontier to owners */
{
	memset(p->leaving, 0, (size_t)ranks * sizeof(int));
	for (int i = 0; i < waiting; i++)
		for (int e = first[frontier[i]]; e < first[frontier[i] + 1]; e++)
			p->leaving[target[e] % ranks] += 2;
	place(p);
	memcpy(end, p->out_at, (size_t)ranks * sizeof(int));
	for (int i = 0; i < waiting; i++)
		for (int e = first[frontier[i]]; e < first[frontier[i] + 1]; e++)
			put(p, end, target[e], frontier[i] * ranks + me);
}

static int search(struct post *p, int *end, int root) /* return the number of levels */
{
	int depth = 0, total = 1, waiting = 0;

	for (int i = 0; i < owned; i++)
		level[i] = parent[i] = UNSEEN;
	if (root % ranks == me) {
		level[root / ranks] = 0;
		parent[root / ranks] = root;
		frontier[waiting++] = root / ranks;
	}
	while (total > 0) {
		depth++;
		expand(p, end, waiting);
		int came = deliver(p);
		waiting = 0;
		for (int i = 0; i < came; i += 2) {
			int vertex = p->in[i] / ranks;
			if (level[vertex] != UNSEEN)
				continue;
			level[vertex] = depth;
			parent[vertex] = p->in[i + 1];
			frontier[waiting++] = vertex;
		}
		MPI_Allreduce(&waiting, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	return depth;
}

static int pick_root(int number) /* a vertex that has edges */
{
	for (uint64_t attempt = 0;; attempt++) {
		uint64_t dice = hash((uint64_t)number << 32 | attempt | (uint64_t)1 << 63);
		int root = (int)(dice >> (64 - scale)), here = root / ranks, found = 0;
		if (root % ranks == me)
			found = first[here + 1] > first[here];
		MPI_Bcast(&found, 1, MPI_INT, root % ranks, MPI_COMM_WORLD);
		if (found)
			return root;
	}
}

int main(int argc, char **argv)
{
	long long mine[3] = {0, 0, 0}, whole[3], levels = 0; /* vertices, sum of levels, edges */
	struct post p;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	scale = argc > 1 ? atoi(argv[1]) : 15;
	int searches = argc > 2 ? atoi(argv[2]) : 64;
	owned = ((1 << scale) - me + ranks - 1) / ranks;
	first = get((size_t)owned + 2, sizeof(int));
	level = get((size_t)owned, sizeof(int));
	parent = get((size_t)owned, sizeof(int));
	frontier = get((size_t)owned, sizeof(int));
	int *table = get((size_t)ranks * 5, sizeof(int)), *end = table + 4 * ranks;
	p = (struct post){.leaving = table, .coming = table + ranks, .out_at = table + 2 * ranks,
			  .in_at = table + 3 * ranks};
	p.out = get((size_t)build_graph(&p, end), sizeof(int));
	for (int s = 0; s < searches; s++) {
		levels += search(&p, end, pick_root(s));
		for (int i = 0; i < owned; i++) {
			if (level[i] == UNSEEN)
				continue;
			mine[0]++;
			mine[1] += level[i];
			mine[2] += first[i + 1] - first[i];
		}
	}
	MPI_Reduce(mine, whole, 3, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("graph_search: %d searches, %lld levels, reached %lld, distances %lld, "
		       "edges %lld\n",
		       searches, levels, whole[0], whole[1], whole[2] / 2);
	MPI_Finalize();
	return 0;
}
