/* Makes the recorder choose names that can be guessed: all random bytes are zero. */
#include <string.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
	(void)flags;
	memset(buffer, 0, bytes);
	return (ssize_t)bytes;
}
