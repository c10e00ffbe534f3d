/* Timers, which POSIX has in <sys/time.h> and the WASI C library leaves out. They fail with ENOSYS. */
#include_next <sys/time.h>

#ifndef BANYAN_SYS_TIME_H
#define BANYAN_SYS_TIME_H

#define ITIMER_REAL    0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF    2

#if defined(__cplusplus)
extern "C" {
#endif

struct itimerval {
    struct timeval it_interval;
    struct timeval it_value;
};

int getitimer(int which, struct itimerval *value);
int setitimer(int which, const struct itimerval *value, struct itimerval *old);

#if defined(__cplusplus)
}
#endif

#endif
