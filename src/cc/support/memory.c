/*
 * The heap. The memory has its full size from the start and never grows; the C library's malloc gets more of it here, up to
 * a limit above which the runtime keeps its own things.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "banyan.h"

/* Where the linker's part of the memory ends. */
extern char __heap_end;

/* The runtime sets the limit before it starts the program. */
struct banyan_memory banyan_memory = {&__heap_end, &__heap_end};

void *sbrk(intptr_t increment) {
    char *old = banyan_memory.brk;
    if (increment < 0 || increment > banyan_memory.limit - old) {
        errno = ENOMEM;
        return (void *)-1;
    }
    banyan_memory.brk = old + increment;
    return old;
}

void *memalign(size_t alignment, size_t size) {
    return aligned_alloc(alignment, size);
}

void *valloc(size_t size) {
    return aligned_alloc((size_t)getpagesize(), size);
}
