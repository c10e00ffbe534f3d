/* What POSIX has in <sys/stat.h> and the WASI C library leaves out; src/cc/support/process.c defines it. */
#include_next <sys/stat.h>

#ifndef BANYAN_SYS_STAT_H
#define BANYAN_SYS_STAT_H

#if defined(__cplusplus)
extern "C" {
#endif

mode_t umask(mode_t mask);

#if defined(__cplusplus)
}
#endif

#endif
