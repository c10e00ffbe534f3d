/* A set of signals. The WASI C library's file of this name has room for eight of them. */
#ifndef __wasilibc___typedef_sigset_t_h
#define __wasilibc___typedef_sigset_t_h

typedef unsigned long long sigset_t;

#endif
