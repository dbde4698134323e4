#ifndef SKELGEN_DECODE_H
#define SKELGEN_DECODE_H
#include <stdint.h>
/* Decodes the records of one rank file; docs/trace_format.md says what stands in it. */

/* Why skelgen_decode() came back. The GROW ones want a larger table and a further call. */
enum skelgen_stop {
	SKELGEN_STOP_DATA = 0, /* a zero tag or the end of the data */
	SKELGEN_STOP_END = 1,  /* an END record was read */
	SKELGEN_STOP_GROW_DEFINITIONS = 2,
	SKELGEN_STOP_GROW_SHAPES = 3,
	SKELGEN_STOP_GROW_VARIANTS = 4,
	SKELGEN_STOP_FULL = 5,       /* more events than the caller has room for */
	SKELGEN_STOP_PAUSE = 6,      /* as far as the caller wants for now */
	SKELGEN_STOP_SHORT = 16,     /* damaged: the record runs past the end of the data */
	SKELGEN_STOP_VARINT = 17,    /* damaged: a varint of more than 64 bits */
	SKELGEN_STOP_SHAPE = 18,     /* damaged: an event of a shape that is not defined */
	SKELGEN_STOP_ID = 19,        /* damaged: a definition whose id is not the next one */
	SKELGEN_STOP_RANGE = 20,     /* damaged: a number out of its range */
	SKELGEN_STOP_EXTRA = 21,     /* damaged: an extra that this version does not have */
	SKELGEN_STOP_REFERENCE = 22, /* damaged: a list or vector that is not defined */
};

/* Which count makes the bytes of a call. */
enum skelgen_rule {
	SKELGEN_RULE_NONE = 0,
	SKELGEN_RULE_A = 1,
	SKELGEN_RULE_B = 2,
	SKELGEN_RULE_ROOT_A = 3, /* A at the root, else B */
	SKELGEN_RULE_POLLS = 4,  /* number of polls that the record stands for */
};

/* Polls in vain with work between them: so long on average, and so many times as long as a poll. */
enum {
	SKELGEN_WORK_AMID_POLLS_NS = 10000,
	SKELGEN_WORK_AMID_POLLS = 10,
};

/* A definition that the kernel only walks over. */
struct skelgen_definition {
	int64_t offset;  /* of the record [bytes] */
	int64_t payload; /* where its payload begins [bytes] */
	int64_t length;  /* of the payload [bytes] */
	int64_t tag;
};

/* What kept a thread from its core before an event: others, or its own sleep. */
struct skelgen_away {
	int64_t event;
	int64_t queued_us;
	int64_t asleep_us;
};

/* A call shape as defined, and the last values of what varies in it. */
struct skelgen_call_shape {
	int64_t offset; /* of its record [bytes] */
	int64_t count_a;
	int64_t count_b;
	int64_t bytes_a; /* size of type_a [bytes], set by the caller */
	int64_t bytes_b;
	uint32_t rule; /* enum skelgen_rule, set by the caller */
	int32_t own;   /* own rank in the communicator, set by the caller */
	uint32_t flags;
	uint32_t function;
	uint32_t op;
	uint32_t type_a;
	uint32_t type_b;
	uint32_t site;
	int32_t comm;
	int32_t peer;
	int32_t tag;
	int32_t peer2;
	int32_t tag2;
	uint32_t reference;
	uint32_t vector_a;
	uint32_t vector_b;
	uint32_t variant; /* row of its present values + 1; 0: look it up */
	uint32_t lag;     /* the predicted counts are those of so many events back */
	uint32_t newest;  /* in the history */
	uint32_t padding;
	int64_t history_a[8]; /* counts of its last events */
	int64_t history_b[8];
};

/* A shape with one set of the values that vary. */
struct skelgen_variant {
	uint32_t shape; /* from 0 */
	int32_t peer;
	int32_t tag;
	int32_t peer2;
	int32_t tag2;
	uint32_t amid_work; /* 1: polls, and the rank worked between them */
};

/* What a completed receive with a wildcard got. */
struct skelgen_status {
	int64_t event;
	int64_t position; /* in the event's list of requests */
	int32_t source;
	int32_t tag;
};

/* A completed request of another thread. */
struct skelgen_foreign {
	int64_t event;
	int64_t thread;
	int64_t number;
};

/* The vectors of an event that has them. */
struct skelgen_vectors {
	int64_t event;
	uint32_t vector_a;
	uint32_t vector_b;
};

/*
 * A stream being decoded. All pointers belong to the caller. Without `variant` the
 * events are only checked and counted.
 */
struct skelgen_stream {
	const uint8_t *data;
	int64_t size;     /* bytes at `data` that may be read */
	int64_t position; /* of the next record [bytes] */
	int64_t pause;    /* come back at the first record from here on [bytes] */

	struct skelgen_definition *definitions; /* NULL: not asked for */
	int64_t definition_capacity;
	int64_t definition_count;
	struct skelgen_call_shape *shapes;
	int64_t shape_capacity;
	int64_t shape_count;
	struct skelgen_variant *variants;
	uint32_t *slots; /* 2^slot_bits rows of variants + 1, 0: free */
	int64_t variant_capacity;
	int64_t variant_count;
	int64_t slot_bits;

	int64_t event_capacity;
	int64_t event_count;
	uint32_t *variant;   /* of each event */
	uint32_t *reference; /* requests of each event, as in the file */
	int64_t *size_bytes; /* of each event */
	int64_t *enter_ns;
	int64_t *leave_ns;
	int64_t *compute_ns;
	struct skelgen_status *statuses;
	int64_t status_capacity;
	int64_t status_count;
	struct skelgen_foreign *foreign;
	int64_t foreign_capacity;
	int64_t foreign_count;
	struct skelgen_vectors *vectors;
	int64_t vector_capacity;
	int64_t vector_count;
	struct skelgen_away *away; /* NULL: not asked for */
	int64_t away_capacity;
	int64_t away_count;

	double ns_per_unit;
	int64_t origin_ns;       /* time of the stream's start */
	int64_t cost_ns;         /* of recording one event */
	int64_t request_cost_ps; /* and of each request of the event before */

	/* State: */
	int64_t time_units; /* end of the last event since the stream's start */
	int64_t handled;    /* requests that the last event made or completed */
	int64_t list_count;
	int64_t vector_definitions;
	int64_t next_queued_us;
	uint32_t before;
	uint32_t last;
	uint32_t context;    /* depends on the last eight shapes */
	uint32_t queue_told; /* a QUEUED record came, for the next event: */
	uint32_t predicted[4096];
	uint32_t long_predicted[4096];
	uint32_t long_context[4096];

	/* Facts: */
	int64_t request_count;     /* events that create one */
	int64_t persistent_count;  /* events that create a persistent one */
	int64_t poll_count;        /* polls that found nothing */
	int64_t error_count;       /* events that returned an error */
	int64_t handled_count;     /* requests made, started or given to a completion */
	int64_t implausible_count; /* sizes that were cut */
	int64_t overhead_units;    /* in the recorder, beyond its usual cost */
	int64_t compute_units;     /* between calls, and at work between polls */
	int64_t long_units;        /* of these, gaps longer than SKELGEN_LONG_GAP_NS */
	int64_t lost_us;           /* between calls, time in which the thread did not run */
	int64_t told_us;           /* of that, what QUEUED records are about */
	int64_t queued_us;         /* of that, what others took */
};

/* One of many files that are decoded in a row: where it is, what there is room for, its clock. */
struct skelgen_file {
	int64_t data;  /* where it begins in the bytes of all [bytes] */
	int64_t begin; /* of its records, counted from there [bytes] */
	int64_t end;   /* nothing from here on is read [bytes] */
	/* Rows that are its own, behind those of the files before; 0: only checked and counted. */
	int64_t shapes;
	int64_t events;
	int64_t statuses;
	int64_t foreign;
	int64_t vectors;
	int64_t away;
	int64_t origin_ns;
	int64_t cost_ns;
	int64_t request_cost_ps;
	double ns_per_unit;
};

/* What was found in one of many files. */
struct skelgen_found {
	int64_t stop; /* enum skelgen_stop; a GROW one: there was no room for all of it */
	int64_t position;
	int64_t definitions;
	int64_t shapes;
	int64_t variants;
	int64_t implausible;
	/* Counts and sums as in the stream: */
	int64_t events;
	int64_t requests;
	int64_t persistent;
	int64_t polls;
	int64_t errors;
	int64_t statuses;
	int64_t foreign;
	int64_t vectors;
	int64_t away;
	int64_t handled;
	int64_t duration_units;
	int64_t overhead_units;
	int64_t compute_units;
	int64_t long_units;
	int64_t lost_us;
	int64_t told_us;
	int64_t queued_us;
};

/*
 * Files that are decoded in a row. `tables` has the tables and columns of all of them together.
 * Without slots the files are only checked and counted, and shapes are zeros, else given.
 */
struct skelgen_files {
	struct skelgen_stream tables;
	struct skelgen_stream at_work;
	const uint8_t *data;
	const struct skelgen_file *files;
	struct skelgen_found *found;
	int64_t count;
};

int skelgen_decode(struct skelgen_stream *stream);
void skelgen_decode_files(struct skelgen_files *files);
void skelgen_decode_rehash(struct skelgen_stream *stream);
uint32_t skelgen_checksum(uint32_t crc, const uint8_t *data, int64_t bytes);
#endif
