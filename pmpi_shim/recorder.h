/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the recorder's parts share. A wrapper (build/wrappers.c, generated) takes the time,
 * calls the real function and hands a struct skelgen_call to skelgen_event(), which is inline
 * and writes the record when the call is the predicted one (fast.h). The rest is slow paths:
 *
 *   event.c     events out of the ordinary, failed polls
 *   sample.c    samples of CPU time
 *   load.c      what kept a thread from its core
 *   shape.c     shapes
 *   intern.c    what stands in a file once: definitions, lists of requests, vectors of counts
 *   site.c      call sites and what called them
 *   object.c    communicators, windows and files
 *   members.c   who belongs to a communicator: its definition
 *   promise.c   communicators whose handle is known when a request completes
 *   type.c      datatypes and operations
 *   unheard.c   questions that the program's error handlers do not hear
 *   message.c   matched messages
 *   topology.c  grids and neighbours of communicators
 *   request.c   from request handles to request numbers
 *   table.c     the requests that are not complete, by handle
 *   buffer.c    the file and its mapped window
 *   check.c     checksums of what is in the file
 *   guard.c     what happens when the file is cut while it is mapped
 *   folder.c    where files stand, and how they get there
 *   cost.c      what recording costs
 *   parting.c   a pause before MPI_Finalize where the library needs one
 *   clock.c     clocks and the offsets between hosts
 *   stream.c    the streams of threads, their headers and ends
 *   unseen.c    what a rank does and no event shows: threads, children, GPUs
 *   posix.c     reads and writes of files
 *   front.c     tools in front of the recorder
 *   start.c     from MPI_Init to the first record
 *   thread.c    which threads record
 *   ending.c    Finalize, Abort, exit, Pcontrol
 *   session.c   programs without MPI_Init
 *   phase.c     runs that are measured, phase by phase, instead of recorded
 *   settings.c  what the user set and what the user is told
 *   real.c      the functions of the MPI library
 *   fortran.c   the same in Fortran, and Fortran's constants
 */
#ifndef SKELGEN_RECORDER_H
#define SKELGEN_RECORDER_H

#include "real.h"
#include "state.h"

/* phase.c */
extern bool skelgen_measuring;
void skelgen_phase_begin(struct skelgen_stream *s);
struct skelgen_stream *skelgen_phase_enter(uint32_t function, uintptr_t frame);
void skelgen_phase_leave(void);
void skelgen_phase_end(bool finalizing);

/* settings.c */
#define SKELGEN_MOST_FRAMES 64
void skelgen_read_settings(void);
void skelgen_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *skelgen_reason(int error);

/* folder.c */
void skelgen_folder_use(uint64_t world);
uint64_t skelgen_folder_take(int *error);
void skelgen_folder_leave(void);
const char *skelgen_folder(void);
void skelgen_folder_name(struct skelgen_stream *s);
int skelgen_folder_open(const struct skelgen_stream *s);
void skelgen_folder_remove(struct skelgen_stream *s);
void skelgen_folder_deliver(struct skelgen_stream *s);
void skelgen_folder_remark(struct skelgen_stream *s);

/* thread.c */
struct skelgen_stream *skelgen_begin_slow(uint32_t function, uintptr_t frame);
SKELGEN_INLINE void skelgen_lock(void)
{
	if (unlikely(skelgen.multiple))
		pthread_mutex_lock(&skelgen.lock);
}
SKELGEN_INLINE void skelgen_unlock(void)
{
	if (unlikely(skelgen.multiple))
		pthread_mutex_unlock(&skelgen.lock);
}

/* stream.c */
uint64_t skelgen_host(void);
bool skelgen_right_library(void);
void skelgen_header_fill(uint64_t start_ticks, int64_t start_realtime_ns);
const char *skelgen_program(void);
struct skelgen_stream *skelgen_stream_new(int thread);
void skelgen_stream_free(struct skelgen_stream *s);
void skelgen_stream_begin(struct skelgen_stream *s, uint64_t ticks, uint64_t cpu_ns);
void skelgen_stream_end(struct skelgen_stream *s, enum skelgen_end reason, int code);
struct skelgen_stream *skelgen_stream_of_thread(void);

/* buffer.c */
bool skelgen_size_allowed(uint64_t bytes);
bool skelgen_file_create(struct skelgen_stream *s);
void skelgen_file_begin(struct skelgen_stream *s, const struct skelgen_header *header);
bool skelgen_reserve(struct skelgen_stream *s, size_t bytes);
void skelgen_grow(struct skelgen_stream *s);
void skelgen_define(struct skelgen_stream *s, enum skelgen_record_tag tag, const uint8_t *payload,
		    size_t bytes);
void skelgen_file_end(struct skelgen_stream *s, enum skelgen_end reason, int code);
bool skelgen_room(void **array, size_t *room, size_t wanted, size_t element);

/* check.c */
uint32_t skelgen_check_header(const struct skelgen_header *header);
uint32_t skelgen_check_window(const struct skelgen_stream *s);
void skelgen_check_put(struct skelgen_stream *s, uint32_t crc, size_t following);

/* guard.c */
void skelgen_guard_open(void);
void skelgen_guard_close(void);
void skelgen_guard_window(struct skelgen_stream *s, uint8_t *window, size_t bytes);

/* clock.c */
uint64_t skelgen_monotonic_ns(void);
void skelgen_clock_pair(uint64_t *ticks, uint64_t *ns);
uint64_t skelgen_thread_cpu_ns(void);
void skelgen_clock_choose(void);
void skelgen_clock_calibrate(uint64_t ticks0, uint64_t ns0, uint64_t ticks1, uint64_t ns1);
void skelgen_clock_record(struct skelgen_stream *s, enum skelgen_clock_place place);
bool skelgen_clock_prepare(int size);
void skelgen_clock_compare(bool several_hosts, uint64_t host);
void skelgen_clock_offsets(struct skelgen_stream *s, enum skelgen_clock_place place);
void skelgen_clock_release(void);

/* usage.c */
uint64_t skelgen_usage_asked(void);

/* parting.c */
void skelgen_part(void);

/* cost.c */
void skelgen_measure_cost(void);

/* event.c */
void skelgen_event_general(struct skelgen_stream *s, const struct skelgen_call *call,
			   uint64_t begin, uint64_t end);
void skelgen_event_unforeseen(struct skelgen_stream *s, int code, uint32_t function,
			      const int64_t counts[2], uint64_t reference, uint64_t begin,
			      uint64_t end);
void skelgen_flush_poll(struct skelgen_stream *s);
uint8_t *skelgen_status_extras(uint8_t *p, struct skelgen_stream *s);
uint32_t skelgen_failed(struct skelgen_stream *s, int code);
void skelgen_object(struct skelgen_stream *s, uint32_t id);

/* load.c */
struct skelgen_scheduling {
	uint64_t switches;
	uint64_t blocks;
};
struct skelgen_scheduling skelgen_thread_scheduling(void);
void skelgen_load_begin(struct skelgen_stream *s);
uint64_t skelgen_load_sample(struct skelgen_stream *s);
void skelgen_load_end(struct skelgen_stream *s);
void skelgen_load_close(struct skelgen_stream *s);

/* sample.c */
void skelgen_sample(struct skelgen_stream *s);
uint64_t skelgen_sample_begin(struct skelgen_stream *s, uint64_t begin);

/* site.c */
void skelgen_site_prepare(void);
uint32_t skelgen_site_id(struct skelgen_stream *s, uint64_t site);
uint64_t skelgen_site_deepen(struct skelgen_stream *s, uint64_t site);

/* shape.c */
struct skelgen_shape *skelgen_shape_of(struct skelgen_stream *s, const struct skelgen_call *call);
void skelgen_count_miss(struct skelgen_shape *shape, int64_t a, int64_t b);
void skelgen_forget(struct skelgen_stream *s, uint64_t handle);

/* predict.c */
bool skelgen_predictions_open(struct skelgen_stream *s);
void skelgen_predictions_close(struct skelgen_stream *s);
void skelgen_predictions_forget(struct skelgen_stream *s);
void skelgen_learn(struct skelgen_stream *s, struct skelgen_shape *shape);

/* intern.c */
bool skelgen_interned_open(struct skelgen_interned *interned);
void skelgen_interned_close(struct skelgen_interned *interned);
uint64_t skelgen_list(struct skelgen_stream *s);
uint32_t skelgen_vector(struct skelgen_stream *s, int64_t *counts, size_t n);
void skelgen_define_function(struct skelgen_stream *s, uint32_t id);
bool skelgen_known(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id);
bool skelgen_defined(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id);
const int64_t *skelgen_predicted_list(struct skelgen_stream *s, size_t *n);

/* topology.c */
struct skelgen_neighbours {
	int sources;
	int destinations;
	int *ranks; /* sources, then destinations; MPI_PROC_NULL beyond a border */
};
void skelgen_neighbours_find(MPI_Comm comm, int rank, struct skelgen_neighbours *around);
size_t skelgen_topology_bytes(const struct skelgen_neighbours *around);
uint8_t *skelgen_put_topology(uint8_t *p, MPI_Comm comm, const struct skelgen_neighbours *around);

/* object.c, members.c, promise.c, type.c, message.c */
struct skelgen_comm {
	uint64_t handle;
	int32_t id;
	int rank;
	int size;  /* of the local group */
	int peers; /* size of the group that peers are ranks of */
	bool inter;
	struct skelgen_neighbours around;
	uint32_t sequence; /* collective creating calls so far */
	bool kept;         /* to the end, for messages: known by its address as well */
	uint8_t *payload;  /* its definition */
	uint8_t *detail;   /* of a window or file: a further one */
	size_t detail_bytes;
	uint32_t detail_tag;
	size_t payload_bytes;
};
bool skelgen_objects_open(void);
void skelgen_objects_finalize(void);
void skelgen_objects_close(void);
struct skelgen_message {
	uint64_t comm;
	int32_t source;
	int32_t tag;
};
void skelgen_dropped(uint64_t handle);
void skelgen_retire(uint64_t handle);
void skelgen_retired(struct skelgen_stream *s, bool freed);
struct skelgen_comm *skelgen_comm_find(MPI_Comm comm);
void skelgen_comm_created(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			  MPI_Comm created);
void skelgen_comm_promise(struct skelgen_stream *s, MPI_Comm parent, MPI_Comm *where);
void skelgen_comm_promise_fortran(struct skelgen_stream *s, MPI_Comm parent, const MPI_Fint *where);
void skelgen_comm_fulfil(uint64_t request);
void skelgen_comm_define(struct skelgen_stream *s, int32_t id);
struct skelgen_comm *skelgen_object_find(uint64_t handle);
void skelgen_object_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t handle, enum skelgen_record_tag tag, const uint8_t *detail,
			 size_t bytes);
void skelgen_handle_freed(uint64_t handle);
void skelgen_type_freed(MPI_Datatype type);
bool skelgen_contiguous(MPI_Datatype type);
uint32_t skelgen_type_id(struct skelgen_stream *s, uint64_t handle, bool ask);
uint32_t skelgen_op_code(uint64_t handle, bool ask);
void skelgen_message_made(MPI_Message message, MPI_Comm comm, int source, int tag);
struct skelgen_message skelgen_message_taken(MPI_Message message);

#include "request.h"

#include "unseen.h"

#include "fast.h"

#endif
