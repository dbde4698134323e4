#ifndef SKELGEN_REQUESTS_H
#define SKELGEN_REQUESTS_H
#include <stdint.h>
/* Follows the requests of one rank: references of the trace become rows of ages. */

enum skelgen_requests_stop {
	SKELGEN_REQUESTS_DONE = 0,
	SKELGEN_REQUESTS_GROW_ROWS = 1,
	SKELGEN_REQUESTS_GROW_VALUES = 2,
	SKELGEN_REQUESTS_GROW_SCRATCH = 3,
	SKELGEN_REQUESTS_GROW_OPEN = 4, /* `recent` and `early` of stream `growing` */
	SKELGEN_REQUESTS_EXCESS = 5,    /* more elements than there can be */
};

/* What the calls of a variant do with requests. */
enum skelgen_action {
	SKELGEN_ACTION_CREATES = 1,    /* makes a request in the numbering of the trace */
	SKELGEN_ACTION_PERSISTENT = 2, /* makes a persistent one in that numbering */
	SKELGEN_ACTION_NEW = 4,        /* makes a request as `Calls` counts them */
	SKELGEN_ACTION_STARTS = 8,
	SKELGEN_ACTION_ENDS = 16,    /* completes or frees what it lists */
	SKELGEN_ACTION_LASTING = 32, /* makes a persistent one as `Calls` counts them */
	SKELGEN_ACTION_COUNTED = 64, /* what it names is counted in `started_count` */
};

/* What a request number stands for. */
struct skelgen_request {
	int64_t number;
	int64_t creator;    /* event, counted from the first of the rank; -1: it does not count */
	int64_t birth;      /* number among its sort, negative: persistent ones */
	int64_t size_bytes; /* of the creator, where sizes are given */
	uint32_t shape;     /* of the creator, where shapes are given */
	uint32_t open;
};

/*
 * One thread: its lists, and what its numbers stand for. The latest requests stand in a row;
 * of those before them only the open ones are kept, so that memory does not grow with the events.
 */
struct skelgen_request_stream {
	const int64_t *list_first;
	const int64_t *list_values;
	int64_t list_count;
	struct skelgen_request *recent; /* number - 1 - before */
	struct skelgen_request *early;  /* by number */
	int64_t capacity;               /* of each of the two */
	int64_t before;                 /* requests that are not in `recent` any more */
	int64_t early_count;
	int64_t made;
	struct skelgen_request *persistent; /* number - 1 */
	int64_t persistent_capacity;
	int64_t persistent_made;
};

/* A completed request of another thread, by the event that completed it. */
struct skelgen_foreign_request {
	int64_t event;
	int64_t stream; /* index, -1: there is none */
	int64_t number;
};

/* A status, by the event and the position in its list; the rest is set here. */
struct skelgen_request_status {
	int64_t event;
	int64_t position;
	int64_t creator; /* event that created the request, or -1 */
	int64_t size_bytes;
	int64_t shape; /* of the creator, where shapes and sizes are given */
};

/*
 * The events of a rank, or a block of them: then the next block goes on with the same state.
 */
struct skelgen_requests {
	int64_t event_count;
	int64_t event;  /* next one */
	int64_t before; /* events of earlier blocks */
	const uint32_t *variant;
	const uint8_t *action;  /* of each variant */
	const uint16_t *stream; /* of each event, or NULL: there is one */
	uint32_t *reference;    /* in: as in the file; out: row of ages */
	/* Of each event, or NULL: not asked for. */
	const uint32_t *shape;
	const int64_t *size_bytes;
	int64_t *started_count; /* of each shape: starts of requests that its calls made */
	int64_t *started_bytes;

	struct skelgen_request_stream *streams;
	int64_t stream_count;
	int64_t growing;
	const struct skelgen_foreign_request *foreign;
	int64_t foreign_count;
	int64_t foreign_next;
	struct skelgen_request_status *statuses;
	int64_t status_count;
	int64_t status_next;

	int64_t created; /* requests that count */
	int64_t lasting; /* of them persistent */

	/* Rows of ages, shared by all ranks; row 0 is empty. NULL: not asked for. */
	int64_t *row_first;
	int64_t row_capacity;
	int64_t row_count;
	int64_t *values;
	int64_t value_capacity;
	int64_t value_count;
	uint32_t *slots; /* 2^slot_bits rows, 0: free; at least twice row_capacity */
	int64_t slot_bits;

	struct skelgen_request *scratch;
	int64_t *ages;
	int64_t scratch_capacity; /* of each of the two */
	int64_t elements;         /* looked at */
	int64_t element_limit;
	int64_t dropped; /* that stand for no request */
};

int skelgen_requests(struct skelgen_requests *requests);
void skelgen_requests_rehash(struct skelgen_requests *requests);
#endif
