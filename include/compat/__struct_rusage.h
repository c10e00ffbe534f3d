/* What a process used. The WASI C library's file of this name has the two times only. */
#ifndef __wasilibc___struct_rusage_h
#define __wasilibc___struct_rusage_h

#include <__struct_timeval.h>

struct rusage {
    struct timeval ru_utime;
    struct timeval ru_stime;
    /* In KiB. */
    long ru_maxrss;
    /* Always 0. */
    long ru_ixrss;
    long ru_idrss;
    long ru_isrss;
    long ru_minflt;
    long ru_majflt;
    long ru_nswap;
    long ru_inblock;
    long ru_oublock;
    long ru_msgsnd;
    long ru_msgrcv;
    long ru_nsignals;
    long ru_nvcsw;
    long ru_nivcsw;
};

#endif
