/* How much memory a process has. */
#include <stdio.h>

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}
