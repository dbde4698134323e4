#ifndef SKELGEN_RECORDS_H
#define SKELGEN_RECORDS_H
#include <stdint.h>
/* Writes rows of numbers as records of an export: as text, or through the OTF2 library. */

enum skelgen_records_stop {
	SKELGEN_RECORDS_DONE = 0,
	SKELGEN_RECORDS_FULL = 1, /* no room for the next row */
	SKELGEN_RECORDS_NEXT = 2, /* lane `wanted` has no rows left */
};

/* Rows of one kind, in the order of their keys. */
struct skelgen_record_group {
	int64_t count;
	int64_t next; /* row */
	int64_t head; /* its key, set by the kernel; INT64_MAX behind the last */
	const int64_t *key;
	const int32_t *kind;       /* template, or what the library writes; negative: nothing */
	const int64_t *time;       /* or NULL */
	const uint8_t *values[12]; /* columns */
	int64_t stride[12];        /* from row to row [bytes]; 0: all rows have the same value */
	uint8_t narrow[12];        /* of 32 bits, else of 64 */
	int64_t columns;
};

enum skelgen_text_part_kind {
	SKELGEN_TEXT_NOTHING = 0,
	SKELGEN_TEXT_INTEGER = 1,
	SKELGEN_TEXT_THOUSANDTHS = 2, /* with three digits behind the point */
	SKELGEN_TEXT_NAME = 3,        /* row of the names */
	SKELGEN_TEXT_OR = 4,          /* an integer, or this text when it is negative */
};

/* A part of a template: literal text, and behind it what the kind says. */
struct skelgen_text_part {
	int32_t kind;
	int32_t column;
	int64_t first; /* of the literal [bytes] */
	int64_t length;
	int64_t other_first; /* of the text for negative numbers [bytes] */
	int64_t other_length;
};

/* A number that was written before, as text; 0 bytes: none. */
struct skelgen_number_text {
	int64_t number;
	int64_t length;
	uint8_t text[24];
};

struct skelgen_text {
	struct skelgen_number_text written[32];
	const struct skelgen_text_part *parts;
	const int64_t *part_first; /* of each template, and the end */
	const int64_t *longest;    /* room that a row of each template needs [bytes] */
	int64_t template_count;
	const uint8_t *literals; /* with 16 bytes behind them, as the names */
	const uint8_t *names;
	const int64_t *name_first; /* of each name, and the end */
	int64_t name_count;

	uint8_t *out;
	int64_t capacity;
	int64_t used;
	int64_t *row_time; /* of each row, or NULL */
	int64_t *row_end;  /* where each row ends, or NULL */
	int64_t row_capacity;
	int64_t row_count;
};

/* The text of one stream, with the time of each row. */
struct skelgen_lane {
	const uint8_t *bytes;
	const int64_t *time;
	const int64_t *end;
	int64_t count;
	int64_t next;
	int64_t ended; /* no rows follow */
};

struct skelgen_lanes {
	struct skelgen_lane *lanes;
	int64_t count;
	int64_t wanted;
	int64_t *heap; /* room for a number of each lane */
	uint8_t *out;
	int64_t capacity;
	int64_t used;
};

/* How the OTF2 library asks whether to write out what it has. */
struct skelgen_otf2_flush {
	uint8_t (*pre)(void *, uint8_t, uint64_t, void *, _Bool);
	uint64_t (*post)(void *, uint8_t, uint64_t);
};

/* How the OTF2 library gets memory. */
struct skelgen_otf2_memory {
	void *(*allocate)(void *, uint8_t, uint64_t, void **, uint64_t);
	void (*free_all)(void *, uint8_t, uint64_t, void **, _Bool);
};

/* Functions of the OTF2 library, which is loaded when it is needed. */
struct skelgen_otf2_library {
	const char *(*OTF2_Error_GetDescription)(int);
	void *(*OTF2_Archive_Open)(const char *, const char *, uint8_t, uint64_t, uint64_t, uint8_t,
				   uint8_t);
	int (*OTF2_Archive_SetFlushCallbacks)(void *, const struct skelgen_otf2_flush *, void *);
	int (*OTF2_Archive_SetMemoryCallbacks)(void *, const struct skelgen_otf2_memory *, void *);
	int (*OTF2_Archive_SetSerialCollectiveCallbacks)(void *);
	int (*OTF2_Archive_SetCreator)(void *, const char *);
	int (*OTF2_Archive_OpenEvtFiles)(void *);
	int (*OTF2_Archive_CloseEvtFiles)(void *);
	void *(*OTF2_Archive_GetEvtWriter)(void *, uint64_t);
	int (*OTF2_Archive_CloseEvtWriter)(void *, void *);
	int (*OTF2_Archive_OpenDefFiles)(void *);
	void *(*OTF2_Archive_GetDefWriter)(void *, uint64_t);
	int (*OTF2_Archive_CloseDefWriter)(void *, void *);
	int (*OTF2_Archive_CloseDefFiles)(void *);
	void *(*OTF2_Archive_GetGlobalDefWriter)(void *);
	int (*OTF2_Archive_CloseGlobalDefWriter)(void *, void *);
	int (*OTF2_Archive_Close)(void *);
	int (*OTF2_EvtWriter_GetNumberOfEvents)(void *, uint64_t *);
	int (*OTF2_EvtWriter_Enter)(void *, void *, uint64_t, uint32_t);
	int (*OTF2_EvtWriter_Leave)(void *, void *, uint64_t, uint32_t);
	int (*OTF2_EvtWriter_MpiSend)(void *, void *, uint64_t, uint32_t, uint32_t, uint32_t,
				      uint64_t);
	int (*OTF2_EvtWriter_MpiIsend)(void *, void *, uint64_t, uint32_t, uint32_t, uint32_t,
				       uint64_t, uint64_t);
	int (*OTF2_EvtWriter_MpiIsendComplete)(void *, void *, uint64_t, uint64_t);
	int (*OTF2_EvtWriter_MpiIrecvRequest)(void *, void *, uint64_t, uint64_t);
	int (*OTF2_EvtWriter_MpiRecv)(void *, void *, uint64_t, uint32_t, uint32_t, uint32_t,
				      uint64_t);
	int (*OTF2_EvtWriter_MpiIrecv)(void *, void *, uint64_t, uint32_t, uint32_t, uint32_t,
				       uint64_t, uint64_t);
	int (*OTF2_EvtWriter_MpiCollectiveBegin)(void *, void *, uint64_t);
	int (*OTF2_EvtWriter_MpiCollectiveEnd)(void *, void *, uint64_t, uint8_t, uint32_t,
					       uint32_t, uint64_t, uint64_t);
	int (*OTF2_EvtWriter_MpiRequestCancelled)(void *, void *, uint64_t, uint64_t);
	int (*OTF2_EvtWriter_NonBlockingCollectiveRequest)(void *, void *, uint64_t, uint64_t);
	int (*OTF2_EvtWriter_NonBlockingCollectiveComplete)(void *, void *, uint64_t, uint8_t,
							    uint32_t, uint32_t, uint64_t, uint64_t,
							    uint64_t);
	int (*OTF2_GlobalDefWriter_WriteClockProperties)(void *, uint64_t, uint64_t, uint64_t,
							 uint64_t);
	int (*OTF2_GlobalDefWriter_WriteString)(void *, uint32_t, const char *);
	int (*OTF2_GlobalDefWriter_WriteParadigm)(void *, uint8_t, uint32_t, uint8_t);
	int (*OTF2_GlobalDefWriter_WriteSystemTreeNode)(void *, uint32_t, uint32_t, uint32_t,
							uint32_t);
	int (*OTF2_GlobalDefWriter_WriteLocationGroup)(void *, uint32_t, uint32_t, uint8_t,
						       uint32_t, uint32_t);
	int (*OTF2_GlobalDefWriter_WriteLocation)(void *, uint64_t, uint32_t, uint8_t, uint64_t,
						  uint32_t);
	int (*OTF2_GlobalDefWriter_WriteRegion)(void *, uint32_t, uint32_t, uint32_t, uint32_t,
						uint8_t, uint8_t, uint32_t, uint32_t, uint32_t,
						uint32_t);
	int (*OTF2_GlobalDefWriter_WriteGroup)(void *, uint32_t, uint32_t, uint8_t, uint8_t,
					       uint32_t, uint32_t, const uint64_t *);
	int (*OTF2_GlobalDefWriter_WriteComm)(void *, uint32_t, uint32_t, uint32_t, uint32_t,
					      uint32_t);
	int (*OTF2_GlobalDefWriter_WriteInterComm)(void *, uint32_t, uint32_t, uint32_t, uint32_t,
						   uint32_t, uint32_t);
};

/* What the OTF2 library writes. */
struct skelgen_otf2 {
	const struct skelgen_otf2_library *library;
	void **writers;
	int64_t writer_count;
	int64_t written[13]; /* records of each kind */
};

int skelgen_write_text(struct skelgen_text *text, struct skelgen_record_group *groups,
		       int64_t count);
int skelgen_merge_text(struct skelgen_lanes *lanes);
int skelgen_write_otf2(struct skelgen_otf2 *otf2, struct skelgen_record_group *groups,
		       int64_t count);
#endif
