/* Lines of JSON, collected by each rank and printed by the first. */
#include "measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 77 };

_Noreturn void fail(const char *message)
{
	int initialized = 0;

	fprintf(stderr, "skelgen: %s\n", message);
	MPI_Initialized(&initialized);
	if (initialized)
		MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void make_room(struct text *text, size_t more)
{
	size_t wanted = text->length + more + 1;

	if (wanted <= text->room)
		return;
	text->room = 2 * wanted;
	text->bytes = realloc(text->bytes, text->room);
	if (text->bytes == NULL)
		fail("no memory for the results");
}

void add(struct text *text, const char *format, ...)
{
	va_list words, again;
	int length;

	va_start(words, format);
	va_copy(again, words);
	length = vsnprintf(NULL, 0, format, words);
	va_end(words);
	if (length < 0)
		fail("a result cannot be written");
	make_room(text, (size_t)length);
	vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
	va_end(again);
	text->length += (size_t)length;
}

/* A name and a word, in which nothing stands that JSON would have to escape. */
void add_word(struct text *text, const char *name, const char *word)
{
	add(text, "\"%s\": \"", name);
	for (; *word != '\0'; word++) {
		int plain = *word >= ' ' && *word <= '~' && *word != '"' && *word != '\\';

		add(text, "%c", plain ? *word : '?');
	}
	add(text, "\"");
}

void add_values(struct text *text, const double *values, int count)
{
	add(text, "\"values\": [");
	for (int i = 0; i < count; i++)
		add(text, "%s%.9g", i ? ", " : "", values[i]);
	add(text, "]");
}

static void print(const struct text *text)
{
	if (text->length)
		fwrite(text->bytes, 1, text->length, stdout);
	fflush(stdout);
}

/* Print the texts of all ranks in their order, and empty them. */
void print_all(const struct place *place, struct text *text)
{
	if (place->rank) {
		MPI_Send(text->bytes, (int)text->length, MPI_CHAR, 0, LINES, place->world);
	} else {
		print(text);
		for (int from = 1; from < place->ranks; from++) {
			struct text other = {NULL, 0, 0};
			MPI_Status status;
			int length;

			MPI_Probe(from, LINES, place->world, &status);
			MPI_Get_count(&status, MPI_CHAR, &length);
			make_room(&other, (size_t)length);
			other.length = (size_t)length;
			MPI_Recv(other.bytes, length, MPI_CHAR, from, LINES, place->world,
				 MPI_STATUS_IGNORE);
			print(&other);
			free(other.bytes);
		}
	}
	text->length = 0;
}
