/* The kernel for runs whose calls have numbers of 32 bits; cffi reads this file. */
typedef int32_t skelgen_call;
#include "match_declarations.h"
