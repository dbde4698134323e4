/*
 * Join messages and collectives of all ranks; skelgen/matching/kernel.py calls it.
 * Plain declarations only: cffi reads this file. `skelgen_call` is the number of a call, or a
 * negative one.
 */

/* What the calls of a shape do (bits of role). */
enum skelgen_match_role {
	SKELGEN_MATCH_SENDS = 1,
	SKELGEN_MATCH_RECEIVES = 2,
	SKELGEN_MATCH_CREATES = 4,
	SKELGEN_MATCH_SEND_INIT = 8,
	SKELGEN_MATCH_RECEIVE_INIT = 16,
	SKELGEN_MATCH_STARTS = 32,
	SKELGEN_MATCH_COMPLETES = 64,
	SKELGEN_MATCH_CANCELS = 128,
	SKELGEN_MATCH_COLLECTIVE = 256,
	SKELGEN_MATCH_TWO_SIDED = 512,
	SKELGEN_MATCH_COLLECTIVE_INIT = 1024,
};

/* Calls of all ranks, as in the Python class Calls, and tables for each shape. */
struct skelgen_match_input {
	int64_t ranks, shapes, streams, communicators, age_rows;
	const int64_t *first;
	const uint32_t *shape;
	const int64_t *size_bytes;
	const uint32_t *ages;
	const int64_t *age_first;
	const int64_t *age_values;
	/* of each shape */
	const uint16_t *role;
	const int32_t *communicator;
	const int32_t *peer;
	const int32_t *tag;
	const int32_t *peer2;
	const int32_t *tag2;
	const int32_t *stream;
	const int32_t *kind;
	/* participants of each stream of collectives */
	const int32_t *stream_size;
	/* world ranks of each communicator's two groups */
	const int64_t *member_first;
	const int32_t *members;
	const int64_t *remote_first;
	const int32_t *remotes;
};

/*
 * Upper bounds, for the caller's and the kernel's arrays. `requests`: the oldest request of a sort
 * that a call can name, and no more than a rank has.
 */
struct skelgen_match_counts {
	int64_t sends, receives, collectives, requests;
};

/*
 * Arrays of the caller; whole events and messages are results. The three of what completes what are
 * NULL when nobody asks for it.
 */
struct skelgen_match_output {
	int64_t whole_events, messages;
	skelgen_call *whole_event;
	skelgen_call *collective_done;
	uint8_t *lonely;
	skelgen_call *send_call;
	skelgen_call *receive_call;
	skelgen_call *send_done;
	skelgen_call *receive_done;
	int64_t *message_bytes;
};

/* Both return 0, or -1 when there is no memory. */
int skelgen_match_count(const struct skelgen_match_input *in, struct skelgen_match_counts *counts);
int skelgen_match(const struct skelgen_match_input *in, const struct skelgen_match_counts *counts,
		  struct skelgen_match_output *out);
