/* Join the calls of runs of less than 2^31 calls, in half of the memory. */
#include <stdint.h>
#include "match_narrow.h"
#include "match_calls.h"
