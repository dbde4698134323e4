#ifndef SKELGEN_KERNELS_SIMULATE_H
#define SKELGEN_KERNELS_SIMULATE_H
#include <stdint.h>

/* Columns as in the class Script of skeleton/proof/script.py. */
struct skelgen_script {
	int32_t ranks;
	int32_t rows;
	int32_t channels;
	int32_t streams;
	int32_t members;
	const int64_t *first;
	const int32_t *row;
	const uint8_t *kind;
	const uint8_t *mode;
	const int64_t *partner_first;
	const int32_t *send_channel;
	const int32_t *receive_channel;
	const int64_t *size_first;
	const int64_t *size_bytes;
	const int64_t *occurrences;
	const int64_t *capacity_bytes;
	const int64_t *age_first;
	const int64_t *ages;
	const int32_t *stream;
	const int32_t *member;
	const int32_t *fit;
	const int32_t *stream_size;
	const int64_t *request_first;
};

/* Columns as in the class Outcome of skeleton/proof/simulation.py. */
struct skelgen_outcome {
	int64_t truncated;
	int64_t mismatched;
	int64_t misused;
	int64_t unreceived;
	int64_t unsent;
};

int skelgen_simulate(const struct skelgen_script *script, int rendezvous, int64_t *position,
		     struct skelgen_outcome *outcome);

#endif
