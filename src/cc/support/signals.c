/*
 * Signals that a rank raises on itself. A handler is called at once, or when the signal is no longer blocked; a fatal signal
 * without one is the death of the rank, and abort() is one of those. The WASI C library's own emulation knows signal() and
 * raise() only, and ends in a trap that does not tell which signal it was.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "banyan.h"

/* Signals of POSIX; the real-time ones behind them do not exist here. */
enum { SIGNAL_MAX = 31 };

static struct sigaction actions[SIGNAL_MAX + 1];
static sigset_t blocked;
static sigset_t pending;

static sigset_t bit(int signal) { return 1ULL << signal; }

static int is_signal(int signal) {
    if (signal > 0 && signal <= SIGNAL_MAX) return 1;
    errno = EINVAL;
    return 0;
}

/* Their addresses are SIG_IGN and SIG_ERR; the first is called where a signal is ignored. */
void __SIG_IGN(int signal) { (void)signal; }
void __SIG_ERR(int signal) { (void)signal, __builtin_trap(); }

static void act_by_default(int signal) {
    switch (signal) {
        case SIGCHLD:
        case SIGCONT:
        case SIGURG:
        case SIGWINCH:
        /* A rank cannot be stopped. */
        case SIGSTOP:
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU:
            return;
        default:
            banyan_die(signal);
    }
}

static void deliver(int signal) {
    const struct sigaction action = actions[signal];
    const sigset_t before = blocked;
    if (action.sa_handler == SIG_DFL) {
        act_by_default(signal);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND) actions[signal].sa_handler = SIG_DFL;
    blocked |= action.sa_mask;
    if (!(action.sa_flags & SA_NODEFER)) blocked |= bit(signal);
    if (action.sa_flags & SA_SIGINFO) {
        siginfo_t info = {.si_signo = signal, .si_code = SI_USER, .si_pid = getpid(), .si_uid = getuid()};
        action.sa_sigaction(signal, &info, NULL);
    } else {
        action.sa_handler(signal);
    }
    blocked = before;
}

static void deliver_pending(void) {
    for (int signal = 1; signal <= SIGNAL_MAX; signal++) {
        if (!(pending & ~blocked & bit(signal))) continue;
        pending &= ~bit(signal);
        deliver(signal);
    }
}

int raise(int signal) {
    if (!is_signal(signal)) return -1;
    pending |= bit(signal);
    deliver_pending();
    return 0;
}

int kill(pid_t pid, int signal) {
    if (pid != getpid() && pid != 0) {
        errno = ESRCH;
        return -1;
    }
    return signal == 0 ? 0 : raise(signal);
}

_Noreturn void abort(void) {
    blocked &= ~bit(SIGABRT);
    raise(SIGABRT);
    banyan_die(SIGABRT);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
    if (!is_signal(signal)) return -1;
    if (action != NULL && (signal == SIGKILL || signal == SIGSTOP)) {
        errno = EINVAL;
        return -1;
    }
    if (old != NULL) *old = actions[signal];
    if (action != NULL) actions[signal] = *action;
    return 0;
}

static void (*set_handler(int signal, void (*handler)(int), int flags))(int) {
    struct sigaction action = {.sa_flags = flags};
    struct sigaction old;
    action.sa_handler = handler;
    return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
void (*signal(int number, void (*handler)(int)))(int) { return set_handler(number, handler, SA_RESTART); }
void (*bsd_signal(int number, void (*handler)(int)))(int) { return set_handler(number, handler, SA_RESTART); }
void (*__sysv_signal(int number, void (*handler)(int)))(int) {
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}
int siginterrupt(int signal, int flag) {
    (void)flag;
    return is_signal(signal) ? 0 : -1;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    if (old != NULL) *old = blocked;
    if (set == NULL) return 0;
    switch (how) {
        case SIG_BLOCK:
            blocked |= *set;
            break;
        case SIG_UNBLOCK:
            blocked &= ~*set;
            break;
        case SIG_SETMASK:
            blocked = *set;
            break;
        default:
            errno = EINVAL;
            return -1;
    }
    blocked &= ~(bit(SIGKILL) | bit(SIGSTOP));
    deliver_pending();
    return 0;
}

int sigpending(sigset_t *set) {
    *set = pending;
    return 0;
}
int sigemptyset(sigset_t *set) {
    *set = 0;
    return 0;
}
int sigfillset(sigset_t *set) {
    *set = ~0ULL;
    return 0;
}
int sigaddset(sigset_t *set, int signal) {
    if (!is_signal(signal)) return -1;
    *set |= bit(signal);
    return 0;
}
int sigdelset(sigset_t *set, int signal) {
    if (!is_signal(signal)) return -1;
    *set &= ~bit(signal);
    return 0;
}
int sigismember(const sigset_t *set, int signal) {
    return is_signal(signal) ? (*set & bit(signal)) != 0 : -1;
}
