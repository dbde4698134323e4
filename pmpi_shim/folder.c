/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where rank files stand. A folder holds one run: whoever finds it taken (another program that
 * runs at the same time, processes that a rank spawned) records into a folder in it. Files may
 * be written on a disk of the node first and brought to the folder at the end.
 */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define MOST_WORLDS 10000
#define COPY_BYTES ((size_t)1 << 17)

static char folder[sizeof(skelgen.directory) + 32]; /* of this run */
static char node[sizeof(skelgen.local) + 32];       /* the same on the node; or empty */

/* mkdir -p */
static void make_directory(const char *path)
{
	char part[sizeof(folder)];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(part, 0777);
		*p = '/';
	}
	mkdir(part, 0777);
}

static void use(char *path, size_t bytes, const char *top, uint64_t world)
{
	snprintf(path, bytes, "%s", top);
	if (!*top)
		return;
	if (world > 1)
		snprintf(path, bytes, "%s/world-%u", top, (unsigned)world);
	make_directory(path);
}

/* Use the folder of this world: SKELGEN_DIR for the first one, a folder in it for others. */
void skelgen_folder_use(uint64_t world)
{
	use(folder, sizeof(folder), skelgen.directory, world);
	use(node, sizeof(node), skelgen.local, world);
}

const char *skelgen_folder(void)
{
	return folder;
}

/*
 * For rank 0: take the first folder without a run. Its own file, which must not exist yet, says
 * that the folder is taken. Return the number of the world, or 0 and the reason.
 */
uint64_t skelgen_folder_take(int *error)
{
	char path[sizeof(folder) + SKELGEN_NAME_BYTES];
	int file;

	for (uint64_t world = 1; world < MOST_WORLDS; world++) {
		skelgen_folder_use(world);
		snprintf(path, sizeof(path), "%s/rank-000000.skt", folder);
		file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (file >= 0) {
			close(file);
			return world;
		}
		if (errno != EEXIST)
			break;
	}
	*error = errno;
	return 0;
}

/* Give a folder back that nothing will be recorded into. */
void skelgen_folder_leave(void)
{
	char path[sizeof(folder) + SKELGEN_NAME_BYTES];

	snprintf(path, sizeof(path), "%s/rank-000000.skt", folder);
	unlink(path);
}

/* Name a stream's file, and say where it is written. */
void skelgen_folder_name(struct skelgen_stream *s)
{
	char thread[16] = "";

	if (s->thread)
		snprintf(thread, sizeof(thread), ".t%03d", s->thread);
	snprintf(s->name, sizeof(s->name), "rank-%06d%s.skt", skelgen.rank, thread);
	if (node[0]) /* several runs may use the node at the same time */
		snprintf(s->path, sizeof(s->path), "%s/rank-%06d%s.%d.skt", node, skelgen.rank,
			 thread, (int)skelgen.pid);
	else
		snprintf(s->path, sizeof(s->path), "%s/%s", folder, s->name);
}

/* Copy a file; return 0 or the error. */
static int copy(const char *from, const char *to)
{
	int error = 0;
	uint64_t at = 0;
	ssize_t n = 0;
	uint8_t *buffer = malloc(COPY_BYTES);
	int source = open(from, O_RDONLY | O_CLOEXEC);
	int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (!buffer || source < 0 || target < 0)
		error = errno;
	while (!error && (n = read(source, buffer, COPY_BYTES)) > 0) {
		for (ssize_t done = 0; !error && done < n;) {
			ssize_t written = -1;

			errno = EFBIG;
			if (skelgen_size_allowed(at + (uint64_t)(n - done)))
				written = write(target, buffer + done, (size_t)(n - done));
			if (written < 0 && errno != EINTR)
				error = errno;
			if (written > 0) {
				done += written;
				at += (uint64_t)written;
			}
		}
	}
	if (!error && n < 0)
		error = errno;
	if (source >= 0)
		close(source);
	if (target >= 0 && close(target) != 0 && !error) /* where NFS tells of a full disk */
		error = errno;
	free(buffer);
	return error;
}

/* Bring a file that is complete from the node to the run's folder. */
void skelgen_folder_deliver(struct skelgen_stream *s)
{
	char part[sizeof(folder) + SKELGEN_NAME_BYTES + 8];
	char target[sizeof(folder) + SKELGEN_NAME_BYTES];
	int error;

	if (!node[0] || !s->path[0])
		return;
	snprintf(part, sizeof(part), "%s/.%s.part", folder, s->name);
	snprintf(target, sizeof(target), "%s/%s", folder, s->name);
	error = copy(s->path, part);
	if (!error && rename(part, target) != 0)
		error = errno;
	if (error) {
		unlink(part);
		skelgen_say("cannot copy %s to %s: %s; it stays there", s->path, folder,
			    strerror(error));
	} else {
		unlink(s->path);
	}
	s->path[0] = 0;
}

/* Whether the files are written over a network, as far as that is known. */
static bool over_network(const char *path)
{
	static const uint32_t types[] = {
		0x6969,     /* NFS */
		0x517b,     /* SMB */
		0xff534d42, /* CIFS */
		0xfe534d42, /* SMB 2 */
		0x5346414f, /* AFS */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x00c36400, /* Ceph */
		0x19830326, /* BeeGFS */
		0xaad7aaea, /* PanFS */
		0x20030528, /* OrangeFS */
		0x01021997, /* 9P */
		0x65735546, /* FUSE: sshfs and others */
	};
	struct statfs system;

	if (statfs(path, &system) != 0)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((uint32_t)system.f_type == types[i])
			return true;
	return false;
}

/* Note in the trace what about its place may disturb the run. */
void skelgen_folder_remark(struct skelgen_stream *s)
{
	static const char text[] =
		"the trace was written to a network file system, whose pauses fall into the "
		"program's time; SKELGEN_TMPDIR names a folder on each node to write to first";
	uint8_t payload[sizeof(text) + 10];
	uint8_t *p;

	if (skelgen.rank != 0 || s->thread || !over_network(node[0] ? node : folder))
		return;
	p = skelgen_put_string(payload, text, sizeof(text) - 1);
	skelgen_define(s, SKELGEN_REC_NOTE, payload, (size_t)(p - payload));
}
