/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is written into a mapped file that another process cut, or that its disk has no room for,
 * raises SIGBUS. Where the address is in one of our windows, memory of the process takes the
 * window's place, and the stream stops when it next looks. All else goes to who had the signal
 * before. A program that takes the signal itself later keeps it: we do not look for it then.
 */
#include "encode/cut_file.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A window, for the handler: in a list that only grows, so that it may be read at any moment. */
struct skelgen_guard {
	uint8_t *begin; /* NULL: none */
	size_t bytes;
	struct skelgen_stream *stream;
	bool taken;
	struct skelgen_guard *next;
};

static struct skelgen_guard *guards;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* not taken by the handler */
static bool armed;                                       /* once */
static struct sigaction before;
static int (*change)(int, const struct sigaction *, struct sigaction *);

/* Put memory where the window at this address was; false: there is none of ours. */
static bool replace(const uint8_t *address)
{
	for (struct skelgen_guard *g = __atomic_load_n(&guards, __ATOMIC_ACQUIRE); g; g = g->next) {
		uint8_t *begin = __atomic_load_n(&g->begin, __ATOMIC_ACQUIRE);
		size_t bytes = __atomic_load_n(&g->bytes, __ATOMIC_ACQUIRE);

		if (!begin || address < begin || address >= begin + bytes ||
		    __atomic_load_n(&g->begin, __ATOMIC_ACQUIRE) != begin)
			continue;
		/* Not mmap(): communication libraries hook it, and may be in their hook now. */
		if (syscall(SYS_mmap, begin, bytes, PROT_READ | PROT_WRITE,
			    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != (long)begin)
			return false;
		__atomic_store_n(&g->stream->lost, true, __ATOMIC_RELAXED);
		__atomic_store_n(&g->stream->limit, begin, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* Let the signal do what it would do without us. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};

	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(signal, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(signal);
	} else if (before.sa_handler == SIG_DFL || info->si_code > 0) {
		/* An access is made again; what was sent must be sent again. */
		change(signal, &standard, NULL);
		if (info->si_code <= 0)
			raise(signal);
	}
}

static void handle(int signal, siginfo_t *info, void *context)
{
	if (info->si_code <= 0 || !replace(info->si_addr))
		pass_on(signal, info, context);
}

/* The C library's sigaction(): that of UCX keeps this signal for itself. */
static void find_change(void)
{
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (library)
		*(void **)&change = dlsym(library, "sigaction");
	if (!change)
		change = sigaction;
}

/*
 * Take the signal, in front of who had it. Once taken it is taken again only where it has become
 * nobody's, as MPI libraries leave it when they end.
 */
void skelgen_guard_open(void)
{
	struct sigaction now;
	struct sigaction ours = {.sa_sigaction = handle};

	pthread_mutex_lock(&lock);
	if (!change)
		find_change();
	if (change(SIGBUS, NULL, &now) == 0 &&
	    (!armed || (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL))) {
		before = now;
		ours.sa_mask = now.sa_mask;
		ours.sa_flags =
			SA_SIGINFO | SA_ONSTACK | (now.sa_flags & (SA_NODEFER | SA_RESTART));
		armed = change(SIGBUS, &ours, NULL) == 0;
	}
	pthread_mutex_unlock(&lock);
}

/* Give the signal back to who had it, unless somebody else has it by now. */
void skelgen_guard_close(void)
{
	struct sigaction now;

	pthread_mutex_lock(&lock);
	if (armed && change(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
	    now.sa_sigaction == handle) {
		change(SIGBUS, &before, NULL);
		armed = false;
	}
	pthread_mutex_unlock(&lock);
}

static struct skelgen_guard *guard_of(struct skelgen_stream *s)
{
	struct skelgen_guard *g;

	pthread_mutex_lock(&lock);
	for (g = guards; g && g->taken; g = g->next)
		;
	if (!g) {
		g = calloc(1, sizeof(*g));
		if (g) {
			g->next = guards;
			__atomic_store_n(&guards, g, __ATOMIC_RELEASE);
		}
	}
	if (g) {
		g->taken = true;
		g->stream = s;
	}
	pthread_mutex_unlock(&lock);
	return g;
}

/* The stream's window is there now; NULL: it has none any more. */
void skelgen_guard_window(struct skelgen_stream *s, uint8_t *window, size_t bytes)
{
	struct skelgen_guard *g = s->guard;

	if (!g && window)
		g = s->guard = guard_of(s);
	if (!g)
		return;
	__atomic_store_n(&g->begin, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&g->bytes, bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&g->begin, window, __ATOMIC_RELEASE);
	if (!window) {
		s->guard = NULL;
		pthread_mutex_lock(&lock);
		g->taken = false;
		pthread_mutex_unlock(&lock);
	}
}
