/*
 * Signals that a program raises on itself, with POSIX' functions for them, which the WASI C library leaves out;
 * src/cc/support/signals.c defines them. Nobody else can send a signal to a rank.
 */
#include_next <signal.h>

#ifndef BANYAN_SIGNAL_H
#define BANYAN_SIGNAL_H

#include <__typedef_sigset_t.h>
#include <sys/types.h>

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO   4
#define SA_ONSTACK   0x08000000
#define SA_RESTART   0x10000000
#define SA_NODEFER   0x40000000
#define SA_RESETHAND 0x80000000

#define SI_USER 0

#if defined(__cplusplus)
extern "C" {
#endif

union sigval {
    int sival_int;
    void *sival_ptr;
};

typedef struct {
    int si_signo;
    int si_errno;
    int si_code;
    pid_t si_pid;
    uid_t si_uid;
    void *si_addr;
    int si_status;
    union sigval si_value;
} siginfo_t;

struct sigaction {
    union {
        void (*sa_handler)(int);
        void (*sa_sigaction)(int, siginfo_t *, void *);
    } banyan_handler;
    sigset_t sa_mask;
    int sa_flags;
};
#define sa_handler   banyan_handler.sa_handler
#define sa_sigaction banyan_handler.sa_sigaction

int kill(pid_t pid, int signal);
int sigaction(int signal, const struct sigaction *action, struct sigaction *old);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
int sigpending(sigset_t *set);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int signal);
int sigdelset(sigset_t *set, int signal);
int sigismember(const sigset_t *set, int signal);
int siginterrupt(int signal, int flag);

#if defined(__cplusplus)
}
#endif

#endif
