/* Join the calls of runs of any length. */
#include <stdint.h>
#include "match.h"
#include "match_calls.h"
