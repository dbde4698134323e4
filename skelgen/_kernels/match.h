/* The kernel for runs of any length; cffi reads this file. */
typedef int64_t skelgen_call;
#include "match_declarations.h"
