/* What the kernel knows of a host: cores, clock, memory, network cards. */
#include "measure.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PATH = 512, WORD = 256 };

/* The name of a compiler as it gives it itself. */
#if defined(__clang__)
#define COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* The first number of a file; -1 when there is none. */
static double number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	double number;
	int found;

	if (file == NULL)
		return -1.0;
	found = fscanf(file, "%lf", &number) == 1;
	fclose(file);
	return found ? number : -1.0;
}

/* What follows the colon of the first line with a name; empty when there is none. */
static void value_of(const char *path, const char *name, char value[WORD])
{
	char line[WORD];
	FILE *file = fopen(path, "r");

	value[0] = '\0';
	while (file != NULL && !value[0] && fgets(line, sizeof(line), file) != NULL) {
		char *colon = strchr(line, ':');

		if (strncmp(line, name, strlen(name)) || colon == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		for (colon++; isspace((unsigned char)*colon); colon++)
			;
		snprintf(value, WORD, "%s", colon);
	}
	if (file != NULL)
		fclose(file);
}

static int cores(void)
{
	cpu_set_t usable;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&usable);
}

/* Highest clock rate of a core [1/s]; -1: nobody says. */
static double clock_hz(const char *root)
{
	char path[PATH], value[WORD];
	double khz, mhz;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
		 root);
	khz = number_in(path);
	if (khz > 0)
		return khz * 1e3;
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	value_of(path, "cpu MHz", value);
	mhz = atof(value);
	return mhz > 0 ? mhz * 1e6 : -1.0;
}

/* Rate of a network card [bytes/s]; -1: it is none, or the kernel does not know. */
static double nominal_rate(const char *root, const char *name)
{
	char path[PATH];
	double mbit;

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, name);
	if (access(path, F_OK))
		return -1.0; /* no card, but a bridge, a tunnel or the host itself */
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/speed", root, name);
	mbit = number_in(path);
	return mbit > 0 ? mbit * 1e6 / 8 : -1.0;
}

static void add_networks(struct text *text, const char *root)
{
	char path[PATH];
	struct dirent *entry;
	DIR *folder;
	int count = 0;

	snprintf(path, sizeof(path), "%s/sys/class/net", root);
	folder = opendir(path);
	add(text, "\"networks\": [");
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		double rate = nominal_rate(root, entry->d_name);

		if (rate <= 0)
			continue;
		add(text, "%s{", count++ ? ", " : "");
		add_word(text, "name", entry->d_name);
		add(text, ", \"bytes_per_s\": %.9g}", rate);
	}
	if (folder != NULL)
		closedir(folder);
	add(text, "]");
}

/* One line; `root` is empty but in tests. */
void about(struct text *text, const char *host, const char *mpi, const char *root)
{
	struct utsname system = {0};
	char path[PATH], cpu[WORD], memory[WORD], kernel[WORD];

	uname(&system);
	snprintf(kernel, sizeof(kernel), "%.100s %.100s", system.sysname, system.release);
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	value_of(path, "model name", cpu);
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	value_of(path, "MemTotal", memory);
	add(text, "{\"system\": \"host\", ");
	add_word(text, "host", host);
	add(text, ", ");
	add_word(text, "cpu", cpu);
	add(text, ", ");
	add_word(text, "kernel", kernel);
	add(text, ", ");
	add_word(text, "compiler", COMPILER);
	add(text, ", ");
	add_word(text, "mpi", mpi);
	add(text, ", \"cores\": %d, \"clock_hz\": %.9g, ", cores(), clock_hz(root));
	add(text, "\"memory_bytes\": %.0f, ", atof(memory) * 1024);
	add_networks(text, root);
	add(text, "}\n");
}
