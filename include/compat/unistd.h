/* What POSIX has in <unistd.h> and the WASI C library leaves out; src/cc/support/ defines it. */
#include_next <unistd.h>

#ifndef BANYAN_UNISTD_H
#define BANYAN_UNISTD_H

#if defined(__cplusplus)
extern "C" {
#endif

pid_t getppid(void);
pid_t getpgrp(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);

/* There are no child processes, no second descriptors and no timers: these fail with ENOSYS. */
pid_t fork(void);
pid_t vfork(void);
int execl(const char *path, const char *argument, ...);
int execlp(const char *file, const char *argument, ...);
int execv(const char *path, char *const arguments[]);
int execve(const char *path, char *const arguments[], char *const environment[]);
int execvp(const char *file, char *const arguments[]);
int pipe(int ends[2]);
int dup(int descriptor);
int dup2(int descriptor, int other);
unsigned alarm(unsigned seconds);
int pause(void);

#if defined(__cplusplus)
}
#endif

#endif
