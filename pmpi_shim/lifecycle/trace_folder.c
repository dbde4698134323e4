/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where rank files stand. A folder holds one run: whoever finds it taken (another program that
 * runs at the same time, processes that a rank spawned) records into a folder in it. Files may
 * be written on a disk of the node first and brought to the folder at the end.
 */
#include "lifecycle/trace_folder.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/report.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define MOST_WORLDS 10000
#define MOST_NAMES 100
#define COPY_BYTES ((size_t)1 << 17)
/* Nobody but the user has to do with what is recorded. */
#define FOLDER_MODE 0700
#define FILE_MODE 0600
#define NEW_FILE (O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

static char folder[sizeof(skelgen.directory) + 32]; /* of this run */
static char node[sizeof(skelgen.local) + 64];       /* of this process on the node; or empty */

/* A file or folder that we made, to know it again. */
struct identity {
	dev_t device;
	ino_t inode;
};
static struct identity node_identity;
static int node_error;        /* why there is none */
static struct identity first; /* the file with which rank 0 took the folder */

static struct identity identity_of(const struct stat *facts)
{
	return (struct identity){facts->st_dev, facts->st_ino};
}

static bool same(struct identity a, struct identity b)
{
	return a.device == b.device && a.inode == b.inode;
}

/* mkdir -p */
static void make_directory(const char *path)
{
	char part[sizeof(folder)];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(part, FOLDER_MODE);
		*p = '/';
	}
	mkdir(part, FOLDER_MODE);
}

static void use_folder(uint64_t world)
{
	snprintf(folder, sizeof(folder), "%s", skelgen.directory);
	if (world > 1)
		snprintf(folder, sizeof(folder), "%s/world-%u", skelgen.directory, (unsigned)world);
	make_directory(folder);
}

static uint64_t any_number(void)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		number = skelgen_mix(skelgen_monotonic_ns(), (uint64_t)getpid());
	return number;
}

/* Open this process's folder on the node, if it is ours alone; on failure errno says why. */
static int open_node(struct stat *facts)
{
	int place = open(node, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (place < 0)
		return -1;
	if (fstat(place, facts) == 0 && facts->st_uid == geteuid() && !(facts->st_mode & 077))
		return place;
	close(place);
	errno = EPERM;
	return -1;
}

/* The same folder as before. */
static int open_same_node(void)
{
	struct stat facts;
	int place = open_node(&facts);

	if (place < 0 || same(identity_of(&facts), node_identity))
		return place;
	close(place);
	errno = ESTALE;
	return -1;
}

/*
 * Make a folder on the node whose name nobody knows before, so that in a place that all may write
 * to, nobody can have put something in its way. The name tells of which world it is.
 */
static void make_node(uint64_t world)
{
	char suffix[24] = "";
	struct stat facts;
	int place = -1;

	node_error = 0;
	node[0] = 0;
	if (!skelgen.local[0])
		return;
	if (world > 1)
		snprintf(suffix, sizeof(suffix), "-world-%u", (unsigned)world);
	make_directory(skelgen.local);
	errno = EEXIST;
	for (int i = 0; i < MOST_NAMES && place < 0 && errno == EEXIST; i++) {
		snprintf(node, sizeof(node), "%s/skelgen-%016llx%s", skelgen.local,
			 (unsigned long long)any_number(), suffix);
		if (mkdir(node, FOLDER_MODE) == 0)
			place = open_node(&facts);
	}
	if (place < 0) {
		node_error = errno;
		return;
	}
	node_identity = identity_of(&facts);
	close(place);
}

/* Use the folder of this world: SKELGEN_DIR for the first one, a folder in it for others. */
void skelgen_folder_use(uint64_t world)
{
	use_folder(world);
	make_node(world);
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
	struct stat facts;
	int file;

	for (uint64_t world = 1; world < MOST_WORLDS; world++) {
		use_folder(world);
		snprintf(path, sizeof(path), "%s/rank-000000.skt", folder);
		file = open(path, O_WRONLY | NEW_FILE, FILE_MODE);
		if (file >= 0 && fstat(file, &facts) == 0) {
			first = identity_of(&facts);
			close(file);
			return world;
		}
		if (file >= 0)
			close(file);
		else if (errno == EEXIST)
			continue;
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
	snprintf(s->path, sizeof(s->path), "%s/%s", node[0] ? node : folder, s->name);
}

/*
 * Whether a file may be put there: in the place of nothing, or of a file of ours, such as an
 * incomplete run may have left.
 */
static bool may_replace(const char *path)
{
	struct stat facts;

	if (lstat(path, &facts) != 0)
		return true;
	errno = EEXIST;
	return S_ISREG(facts.st_mode) && facts.st_uid == geteuid();
}

/* Open the file with which the folder was taken, unless something else stands in its place. */
static int open_first(const char *path)
{
	struct stat facts;
	int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (file < 0 || (fstat(file, &facts) == 0 && same(identity_of(&facts), first)))
		return file;
	close(file);
	errno = EEXIST;
	return -1;
}

/* Make a stream's file, or open the empty one that took the folder; on failure errno says why. */
int skelgen_folder_open(const struct skelgen_stream *s)
{
	int file = -1;
	int place;
	int error;

	if (node_error) {
		errno = node_error;
	} else if (node[0]) {
		place = open_same_node();
		if (place < 0)
			return -1;
		file = openat(place, s->name, O_RDWR | NEW_FILE, FILE_MODE);
		error = errno;
		close(place);
		if (file < 0)
			rmdir(node);
		errno = error;
	} else if (skelgen.rank == 0 && !s->thread) {
		file = open_first(s->path);
	} else if (may_replace(s->path)) {
		unlink(s->path);
		file = open(s->path, O_RDWR | NEW_FILE, FILE_MODE);
	}
	return file;
}

/* Remove a stream's file, and the folder on the node when it was the last in it. */
void skelgen_folder_remove(struct skelgen_stream *s)
{
	int place;

	if (!node[0]) {
		unlink(s->path);
		return;
	}
	place = open_same_node();
	if (place < 0)
		return;
	unlinkat(place, s->name, 0);
	close(place);
	rmdir(node);
}

static int write_all(int target, const uint8_t *buffer, size_t bytes, uint64_t at)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t written = -1;

		errno = EFBIG;
		if (skelgen_size_allowed(at + bytes - done))
			written = write(target, buffer + done, bytes - done);
		if (written < 0 && errno != EINTR)
			return errno;
		if (written > 0) {
			done += (size_t)written;
			at += (uint64_t)written;
		}
	}
	return 0;
}

/* Copy what is left to read of a file; return 0 or the error. */
static int copy(int source, int target)
{
	uint8_t *buffer = malloc(COPY_BYTES);
	uint64_t at = 0;
	ssize_t n = 0;
	int error = buffer ? 0 : ENOMEM;

	while (!error && (n = read(source, buffer, COPY_BYTES)) > 0) {
		error = write_all(target, buffer, (size_t)n, at);
		at += (uint64_t)n;
	}
	if (!error && n < 0)
		error = errno;
	free(buffer);
	return error;
}

/* Copy a stream's file from the node to a new file; return 0 or the error. */
static int copy_to(const struct skelgen_stream *s, const char *part)
{
	int place = open_same_node();
	int source = place < 0 ? -1 : openat(place, s->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int target = source < 0 ? -1 : open(part, O_WRONLY | NEW_FILE, FILE_MODE);
	int error = target < 0 ? errno : copy(source, target);

	if (target >= 0 && close(target) != 0 && !error) /* where NFS tells of a full disk */
		error = errno;
	if (target >= 0 && error)
		unlink(part);
	if (source >= 0)
		close(source);
	if (place >= 0)
		close(place);
	return error;
}

/* Bring a file that is complete from the node to the run's folder. */
void skelgen_folder_deliver(struct skelgen_stream *s)
{
	char part[sizeof(folder) + SKELGEN_NAME_BYTES + 32];
	char target[sizeof(folder) + SKELGEN_NAME_BYTES];
	int error;

	if (!node[0] || !s->path[0])
		return;
	snprintf(part, sizeof(part), "%s/.%s.%016llx.part", folder, s->name,
		 (unsigned long long)any_number());
	snprintf(target, sizeof(target), "%s/%s", folder, s->name);
	error = copy_to(s, part);
	if (!error && (!may_replace(target) || rename(part, target) != 0)) {
		error = errno;
		unlink(part);
	}
	if (error)
		skelgen_say("cannot copy %s to %s: %s; it stays there", s->path, folder,
			    strerror(error));
	else
		skelgen_folder_remove(s);
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
