/* What POSIX has in <stdlib.h> and the WASI C library leaves out; src/cc/support/ defines it. */
#include_next <stdlib.h>

#ifndef BANYAN_STDLIB_H
#define BANYAN_STDLIB_H

#if defined(__cplusplus)
extern "C" {
#endif

int mkstemp(char *pattern);
char *mkdtemp(char *pattern);
char *mktemp(char *pattern);
void *valloc(size_t size);

#if defined(__cplusplus)
}
#endif

#endif
