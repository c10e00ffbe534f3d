/* Child processes, of which there are none: waiting for one fails with ECHILD. */
#ifndef BANYAN_SYS_WAIT_H
#define BANYAN_SYS_WAIT_H

#include <sys/types.h>

#define WNOHANG   1
#define WUNTRACED 2

#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
#define WTERMSIG(status)    ((status) & 0x7f)
#define WSTOPSIG(status)    WEXITSTATUS(status)
#define WIFEXITED(status)   (WTERMSIG(status) == 0)
#define WIFSTOPPED(status)  (((status) & 0xff) == 0x7f)
#define WIFSIGNALED(status) (!WIFEXITED(status) && !WIFSTOPPED(status))

#if defined(__cplusplus)
extern "C" {
#endif

pid_t wait(int *status);
pid_t waitpid(pid_t pid, int *status, int options);

#if defined(__cplusplus)
}
#endif

#endif
