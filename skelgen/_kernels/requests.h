#ifndef SKELGEN_REQUESTS_H
#define SKELGEN_REQUESTS_H
#include <stdint.h>
/* Follows the requests of one rank: references of the trace become rows of ages. */

enum skelgen_requests_stop {
	SKELGEN_REQUESTS_DONE = 0,
	SKELGEN_REQUESTS_GROW_ROWS = 1,
	SKELGEN_REQUESTS_GROW_VALUES = 2,
	SKELGEN_REQUESTS_GROW_SCRATCH = 3,
	SKELGEN_REQUESTS_GROW_OWNERS = 4, /* of stream `growing` */
	SKELGEN_REQUESTS_EXCESS = 5,      /* more elements than there can be */
};

/* What the calls of a variant do with requests. */
enum skelgen_action {
	SKELGEN_ACTION_CREATES = 1,    /* makes a request in the numbering of the trace */
	SKELGEN_ACTION_PERSISTENT = 2, /* makes a persistent one in that numbering */
	SKELGEN_ACTION_NEW = 4,        /* makes a request as `Calls` counts them */
	SKELGEN_ACTION_STARTS = 8,
	SKELGEN_ACTION_ENDS = 16,    /* completes or frees what it lists */
	SKELGEN_ACTION_LASTING = 32, /* makes a persistent one as `Calls` counts them */
};

/* One thread: its lists, and what its numbers stand for. */
struct skelgen_request_stream {
	const int64_t *list_first;
	const int64_t *list_values;
	int64_t list_count;
	int32_t *owner; /* request number - 1 -> serial of its creation, negative when complete */
	int64_t owner_capacity;
	int64_t made;
	int32_t *persistent; /* number - 1 -> serial of its creation */
	int64_t persistent_capacity;
	int64_t persistent_made;
};

/* A completed request of another thread, by the event that completed it. */
struct skelgen_foreign_request {
	int64_t event;
	int64_t stream; /* index, -1: there is none */
	int64_t number;
};

/* A status, by the event and the position in its list. */
struct skelgen_request_status {
	int64_t event;
	int64_t position;
	int64_t creator; /* set here: event that created the request, or -1 */
};

struct skelgen_requests {
	int64_t event_count;
	int64_t event; /* next one */
	const uint32_t *variant;
	const uint8_t *action;  /* of each variant */
	const uint16_t *stream; /* of each event, or NULL: there is one */
	uint32_t *reference;    /* in: as in the file; out: row of ages */

	struct skelgen_request_stream *streams;
	int64_t stream_count;
	int64_t growing;
	const struct skelgen_foreign_request *foreign;
	int64_t foreign_count;
	int64_t foreign_next;
	struct skelgen_request_status *statuses;
	int64_t status_count;
	int64_t status_next;

	uint32_t *creator; /* serial - 1 -> event */
	int32_t *birth;    /* serial - 1 -> number among its sort, negative: persistent ones */
	int64_t creator_capacity;
	int64_t created;
	int64_t lasting; /* of them persistent */

	/* Rows of ages, shared by all ranks; row 0 is empty. */
	int64_t *row_first;
	int64_t row_capacity;
	int64_t row_count;
	int64_t *values;
	int64_t value_capacity;
	int64_t value_count;
	uint32_t *slots; /* 2^slot_bits rows, 0: free; at least twice row_capacity */
	int64_t slot_bits;

	int64_t *scratch;
	int64_t scratch_capacity;
	int64_t elements; /* looked at */
	int64_t element_limit;
	int64_t dropped; /* that stand for no request */
};

int skelgen_requests(struct skelgen_requests *requests);
void skelgen_requests_rehash(struct skelgen_requests *requests);
#endif
