/* Limits, which POSIX has in <sys/resource.h> and the WASI C library leaves out; src/cc/support/process.c defines them. */
#include_next <sys/resource.h>

#ifndef BANYAN_SYS_RESOURCE_H
#define BANYAN_SYS_RESOURCE_H

#define RLIM_INFINITY (~0ULL)

#define RLIMIT_CPU    0
#define RLIMIT_FSIZE  1
#define RLIMIT_DATA   2
#define RLIMIT_STACK  3
#define RLIMIT_CORE   4
#define RLIMIT_NOFILE 7
#define RLIMIT_AS     9

#if defined(__cplusplus)
extern "C" {
#endif

typedef unsigned long long rlim_t;

struct rlimit {
    rlim_t rlim_cur;
    rlim_t rlim_max;
};

int getrlimit(int resource, struct rlimit *limit);
int setrlimit(int resource, const struct rlimit *limit);

#if defined(__cplusplus)
}
#endif

#endif
