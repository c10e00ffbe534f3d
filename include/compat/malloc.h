/* What the GNU C library has in <malloc.h> and the WASI C library leaves out; src/cc/support/memory.c defines it. */
#include_next <malloc.h>

#ifndef BANYAN_MALLOC_H
#define BANYAN_MALLOC_H

#if defined(__cplusplus)
extern "C" {
#endif

void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);

#if defined(__cplusplus)
}
#endif

#endif
