#ifndef SKELGEN_HALVES_H
#define SKELGEN_HALVES_H
#include <stdint.h>
/* Follows the requests of a rank and finds the other halves of messages, batch by batch. */

/* Why skelgen_follow() or skelgen_match_halves() came back. */
enum skelgen_halves_stop {
	SKELGEN_HALVES_NEXT = 0,      /* thread `wanted` has no events left in its block */
	SKELGEN_HALVES_FULL = 1,      /* no room for the next event, but for those before it */
	SKELGEN_HALVES_GROW = 2,      /* no room for the next event in an empty batch */
	SKELGEN_HALVES_DONE = 3,      /* all threads have ended */
	SKELGEN_HALVES_NO_MEMORY = 4, /* of the system */
};

/* What a call does with requests. */
enum skelgen_half_action {
	SKELGEN_HALVES_BLOCKS = 0,
	SKELGEN_HALVES_CREATES = 1,
	SKELGEN_HALVES_KEEPS = 2, /* makes a persistent request */
	SKELGEN_HALVES_STARTS = 3,
	SKELGEN_HALVES_ENDS = 4,
	SKELGEN_HALVES_RELEASES = 5, /* ends, and frees persistent ones */
};

/* The parts of a call, each of which becomes a half; the roles in this order. */
enum skelgen_half_part {
	SKELGEN_HALVES_SENDS = 1,
	SKELGEN_HALVES_RECEIVES = 2,
	SKELGEN_HALVES_RECEIVES_SECOND = 4, /* from peer2 with tag2 */
	SKELGEN_HALVES_COLLECTIVE = 8,
	SKELGEN_HALVES_OTHER = 16,
};

enum skelgen_half_role {
	SKELGEN_ROLE_SEND = 0,
	SKELGEN_ROLE_RECEIVE = 1,
	SKELGEN_ROLE_COLLECTIVE = 2,
	SKELGEN_ROLE_OTHER = 3,
};

/* What is the same for all events of a shape. */
struct skelgen_half_call {
	int32_t communicator; /* -1: none */
	uint8_t action;       /* enum skelgen_half_action */
	uint8_t parts;        /* of enum skelgen_half_part */
	uint8_t wild_source;
	uint8_t wild_tag;
};

/* A call with one set of partners. */
struct skelgen_half_variant {
	int32_t call; /* row of the calls */
	int32_t peer;
	int32_t tag;
	int32_t peer2;
	int32_t tag2;
};

/* What a receive with a wildcard got, by number of its request; zeros: nothing. */
struct skelgen_half_source {
	int32_t source; /* with 16 added */
	int32_t tag;
};

struct skelgen_half_foreign {
	int64_t event;
	int64_t thread; /* index among the rank's, -1: there is none */
	int64_t number;
};

struct skelgen_half_status {
	int64_t event;
	int64_t position; /* in the event's list of requests */
	int32_t source;
	int32_t tag;
};

/* Events, a column for each field. */
struct skelgen_half_events {
	int64_t *enter_ns;
	int64_t *leave_ns;
	int64_t *compute_ns;
	int64_t *size_bytes;
	int32_t *stream;
	int32_t *call;
	int32_t *peer;
	int32_t *partner; /* world rank of the peer, -1: unknown */
	int32_t *tag;
	int32_t *peer2;
	int32_t *partner2;
	int32_t *tag2;
	int32_t *sides;
	int32_t *post_first;
	int32_t *post_count;
	int32_t *end_count;
};

/* Halves of messages, and nonblocking collectives, a column for each field. */
struct skelgen_half_columns {
	int64_t *ordinal; /* among the half messages of the stream, -1: no message */
	int64_t *size_bytes;
	int64_t *begin_ns;
	int64_t *request; /* its number in the stream, from 1; 0: the call blocks */
	int32_t *event;   /* of the batch, that posts or ends it */
	int32_t *stream;
	int32_t *role; /* enum skelgen_half_role */
	int32_t *call; /* that made the request */
	int32_t *by;   /* call that posted it: of a persistent one the start */
	int32_t *peer;
	int32_t *partner;
	int32_t *tag;
	int32_t *root; /* peer of the call that made the request */
	int32_t *sides;
};

/* One thread of a rank: its block of events, and numbers that go on. */
struct skelgen_half_thread {
	int64_t event_count;
	int64_t event; /* next one */
	const uint32_t *variant;
	const uint32_t *reference;
	const int64_t *size_bytes;
	const int64_t *enter_ns;
	const int64_t *leave_ns;
	const int64_t *compute_ns;
	const int32_t *sides; /* of each event, -1: none; NULL: of no event */
	const struct skelgen_half_variant *variants;
	const struct skelgen_half_foreign *foreign;
	int64_t foreign_count;
	int64_t foreign_next;
	const struct skelgen_half_status *statuses;
	int64_t status_count;
	int64_t status_next;
	const int64_t *list_first;
	const int64_t *list_values;
	int64_t list_count;
	struct skelgen_half_source *sources;
	int64_t source_count;
	int32_t stream;
	int32_t ended; /* no block follows */

	int64_t made;
	int64_t persistent_made;
	int64_t messages;
};

struct skelgen_half_tables;

struct skelgen_follow {
	struct skelgen_half_thread *threads;
	int64_t thread_count;
	int64_t wanted;
	const struct skelgen_half_call *calls;
	int64_t call_count;
	const int64_t *group_first; /* of each communicator, and the end */
	const int32_t *groups;      /* world ranks that a peer stands for */
	struct skelgen_half_tables *tables;
	int64_t only_times; /* of events, as matching needs nothing else */

	struct skelgen_half_events events;
	int64_t event_capacity;
	int64_t event_count;
	struct skelgen_half_columns posts;
	int64_t post_count;
	struct skelgen_half_columns ends;
	int64_t end_count;
	int64_t half_capacity; /* of posts and of ends */
};

struct skelgen_half_tables *skelgen_half_tables_new(void);
void skelgen_half_tables_free(struct skelgen_half_tables *tables);
int skelgen_follow(struct skelgen_follow *follow);
int64_t skelgen_find_sources(struct skelgen_half_thread *thread,
			     const struct skelgen_half_call *calls);

/* What is kept of each half message, by stream and ordinal. */
struct skelgen_half_record {
	int64_t stream; /* of the other half, plus 1; 0: none */
	int64_t ordinal;
	int64_t size_bytes;
	int64_t begin_ns;
	int64_t end_ns; /* 0: never */
};

struct skelgen_half_records {
	struct skelgen_half_record *rows;
	int64_t count; /* rows there is room for */
};

struct skelgen_waiting;

struct skelgen_match_halves {
	struct skelgen_half_records *records; /* of each stream */
	int64_t stream_count;
	const int32_t *rank;    /* of each stream */
	const uint8_t *present; /* whether a rank has a file */
	int64_t rank_count;
	const int32_t *canonical; /* number of each communicator */
	const struct skelgen_half_call *calls;
	struct skelgen_waiting *waiting;
	int64_t pairs;
	int64_t alone;
};

struct skelgen_waiting *skelgen_waiting_new(void);
void skelgen_waiting_free(struct skelgen_waiting *waiting);
int64_t skelgen_waiting_count(const struct skelgen_waiting *waiting);
int skelgen_match_halves(struct skelgen_match_halves *match, const struct skelgen_follow *batch);

/* Other halves of messages, a column for each field. */
struct skelgen_others {
	int64_t *stream; /* -1: there is none */
	int64_t *ordinal;
	int64_t *size_bytes;
	int64_t *begin_ns;
	int64_t *end_ns;
};

void skelgen_other_halves(const struct skelgen_half_records *records, int64_t stream_count,
			  const int32_t *stream, const int64_t *ordinal, int64_t count,
			  struct skelgen_others *found);
#endif
