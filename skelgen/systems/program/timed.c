/* Time a program of the user's: `measure time CMD...`, without MPI of our own. */
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a shell returns for a program that is not there. */
enum { NOT_FOUND = 127, SIGNALLED = 128 };

static void become(char **words)
{
	/* Its output is for people, ours for skelgen. */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(words[0], words);
	fprintf(stderr, "skelgen: cannot run %s: %s\n", words[0], strerror(errno));
	_exit(NOT_FOUND);
}

int time_command(char **words, const char *host)
{
	struct text text = {NULL, 0, 0};
	double begin_s = now_s(), took_s, queued;
	char path[64];
	siginfo_t info;
	int status;
	pid_t child = fork();

	if (child < 0)
		fail("cannot start a process");
	if (child == 0)
		become(words);
	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	took_s = now_s() - begin_s;
	/* It has ended, but the kernel still knows how long it waited for a core. */
	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)child);
	queued = queued_s(path);
	if (waitpid(child, &status, 0) != child)
		fail("the benchmark was lost");
	if (WIFSIGNALED(status))
		return SIGNALLED + WTERMSIG(status);
	if (WEXITSTATUS(status))
		return WEXITSTATUS(status);
	add(&text, "{\"system\": \"time\", ");
	add_word(&text, "host", host);
	add(&text, ", \"seconds\": %.9g, \"queued\": %.6g}\n", took_s,
	    queued < 0 ? -1.0 : queued / took_s);
	fputs(text.bytes, stdout);
	free(text.bytes);
	return fflush(stdout) ? 1 : 0;
}
