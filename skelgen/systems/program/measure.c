/* The parts in their order; see measure.h. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 5 };

static const char USAGE[] = "usage: measure run CORES_S GRID_S INSIDE_S PAIR_S COLLECTIVES_S\n"
			    "       measure about [ROOT]\n"
			    "       measure time COMMAND...\n";

static void own_name(char name[HOST_LENGTH])
{
	if (gethostname(name, HOST_LENGTH - 1))
		snprintf(name, HOST_LENGTH, "unknown");
	name[HOST_LENGTH - 1] = '\0';
	for (char *at = name; *at != '\0'; at++)
		if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\')
			*at = '?';
}

static double seconds(const char *word)
{
	char *end;
	double value = strtod(word, &end);

	if (*end != '\0' || !(value > 0 && value < 1e6)) {
		fputs(USAGE, stderr);
		exit(2);
	}
	return value;
}

static struct budget budget_of(char **words)
{
	return (struct budget){seconds(words[0]), seconds(words[1]), seconds(words[2]),
			       seconds(words[3]), seconds(words[4])};
}

/* Number the hosts by their first ranks, and tell all of them all names. */
static void number_hosts(struct place *place)
{
	MPI_Comm firsts;
	int number = -1;

	MPI_Comm_split(place->world, place->local ? MPI_UNDEFINED : 0, place->rank, &firsts);
	if (firsts != MPI_COMM_NULL) {
		MPI_Comm_rank(firsts, &number);
		MPI_Comm_size(firsts, &place->hosts);
	}
	MPI_Bcast(&number, 1, MPI_INT, 0, place->host);
	MPI_Bcast(&place->hosts, 1, MPI_INT, 0, place->host);
	place->own_host = number;
	place->names = calloc((size_t)place->hosts, sizeof(*place->names));
	place->host_of = calloc((size_t)place->ranks, sizeof(*place->host_of));
	if (place->names == NULL || place->host_of == NULL)
		fail("no memory for the names of hosts");
	if (firsts != MPI_COMM_NULL) {
		MPI_Allgather(place->name, HOST_LENGTH, MPI_CHAR, place->names, HOST_LENGTH,
			      MPI_CHAR, firsts);
		MPI_Comm_free(&firsts);
	}
	MPI_Bcast(place->names, place->hosts * HOST_LENGTH, MPI_CHAR, 0, place->host);
	MPI_Allgather(&number, 1, MPI_INT, place->host_of, 1, MPI_INT, place->world);
}

static void find_place(struct place *place)
{
	place->world = MPI_COMM_WORLD;
	MPI_Comm_rank(place->world, &place->rank);
	MPI_Comm_size(place->world, &place->ranks);
	MPI_Comm_split_type(place->world, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL,
			    &place->host);
	MPI_Comm_rank(place->host, &place->local);
	MPI_Comm_size(place->host, &place->locals);
	own_name(place->name);
	number_hosts(place);
	MPI_Comm_split(place->world, 0, place->local * place->hosts + place->own_host,
		       &place->spread);
}

/* The first ranks of all hosts describe these. */
static void describe(const struct place *place, struct text *text)
{
	char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Get_library_version(mpi, &length);
	mpi[strcspn(mpi, "\n")] = '\0';
	if (!place->local)
		about(text, place->name, mpi, "");
}

static void measure_all(struct budget budget)
{
	struct place place = {.rank = 0};
	struct text text = {NULL, 0, 0};

	find_place(&place);
	describe(&place, &text);
	print_all(&place, &text);
	measure_cores(&place, budget.cores_s, &text);
	if (!place.local)
		measure_grid(place.name, budget.grid_s, &text);
	sleep_until_all(place.world);
	print_all(&place, &text);
	measure_messages(&place, &budget, &text);
	print_all(&place, &text);
	measure_collectives(&place, budget.collectives_s, &text);
	print_all(&place, &text);
	if (!place.rank)
		printf("{\"system\": \"end\"}\n");
	free(text.bytes);
	free(place.names);
	free(place.host_of);
	MPI_Comm_free(&place.spread);
	MPI_Comm_free(&place.host);
}

/* Without MPI: nothing is communicated, and `time` may start a program of another one. */
static int print_about(const char *root)
{
	struct text text = {NULL, 0, 0};
	char host[HOST_LENGTH];

	own_name(host);
	about(&text, host, "", root);
	fputs(text.bytes, stdout);
	free(text.bytes);
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	char host[HOST_LENGTH];
	struct budget budget;

	if (argc > 1 && !strcmp(argv[1], "about"))
		return print_about(argc > 2 ? argv[2] : "");
	if (argc > 2 && !strcmp(argv[1], "time")) {
		own_name(host);
		return time_command(argv + 2, host);
	}
	if (argc != 2 + PARTS || strcmp(argv[1], "run")) {
		fputs(USAGE, stderr);
		return 2;
	}
	budget = budget_of(argv + 2);
	MPI_Init(&argc, &argv);
	measure_all(budget);
	MPI_Finalize();
	return 0;
}
