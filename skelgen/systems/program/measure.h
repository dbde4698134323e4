/*
 * Measures the hosts that it runs on, for `skelgen system measure`.
 *
 * One rank for each core. Ranks of which a part needs nothing sleep meanwhile, so that they take
 * no core and no memory bus. What was found is printed by the first rank: a line of JSON for each
 * quantity, with a value for each repeat.
 */
#ifndef SKELGEN_MEASURE_H
#define SKELGEN_MEASURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { REPEATS = 5, MOST_SIZES = 64, HOST_LENGTH = 256 };

/* A part may take so many times what it was planned to take before it repeats less often. */
#define PATIENCE 1.25

/* Text that grows. */
struct text {
	char *bytes;
	size_t length, room;
};

/* Time for each part [s]. */
struct budget {
	double cores_s, grid_s, inside_s, pair_s, collectives_s;
};

/* Where a rank stands: all ranks, those of its host, and one rank after the other of each host. */
struct place {
	MPI_Comm world, host, spread;
	int rank, ranks, local, locals, hosts, own_host, *host_of;
	char name[HOST_LENGTH], (*names)[HOST_LENGTH];
};

/* How long a process has run, and has waited for a core that others had. */
struct waiting {
	double begin_s, queued_s;
};

/* text.c */
void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void add_word(struct text *text, const char *name, const char *word);
void add_values(struct text *text, const double *values, int count);
void print_all(const struct place *place, struct text *text);
_Noreturn void fail(const char *message);

/* clock.c */
double now_s(void);
struct waiting waiting_begins(void);
double waiting_share(struct waiting since);
double queued_s(const char *path);
double median(double *values, int count);
long clamped(double number, long least, long most);
int another(MPI_Comm comm, int repeats, double end_s);
void sleep_until_all(MPI_Comm comm);

/* about.c */
void about(struct text *text, const char *host, const char *mpi, const char *system_root);

/* cores.c, memory.c, chase.c, grid.c, messages.c, collectives.c */
void measure_cores(const struct place *place, double budget_s, struct text *text);
void measure_memory(MPI_Comm comm, const char *host, double budget_s, char *buffer, size_t most,
		    struct text *text);
int memory_sizes(size_t sizes[MOST_SIZES], size_t most);
void measure_chase(MPI_Comm comm, const char *host, double budget_s, char *buffer, size_t most,
		   struct text *text);
void measure_grid(const char *host, double budget_s, struct text *text);
void measure_messages(const struct place *place, const struct budget *budget, struct text *text);
void measure_collectives(const struct place *place, double budget_s, struct text *text);

/* timed.c */
int time_command(char **words, const char *host);

#endif
