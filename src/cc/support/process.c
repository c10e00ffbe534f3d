/*
 * A rank as a process: who it is, what it used, and the children that it cannot have. A program that only asks gets an
 * answer; one that tries to start something gets ENOSYS.
 */
#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "banyan.h"

BANYAN_IMPORT("banyan", "getpid") int banyan_getpid(void);
/* Writes the machine's name and a closing zero, cut to `room` bytes. */
BANYAN_IMPORT("banyan", "hostname") void banyan_hostname(char *name, int room);

enum { USER = 1000, FILES_MAX = 1024 };

static int refuse(void) {
    errno = ENOSYS;
    return -1;
}

/* Who it is. */

pid_t getpid(void) { return banyan_getpid(); }
pid_t getppid(void) { return 1; }
pid_t getpgrp(void) { return banyan_getpid(); }
uid_t getuid(void) { return USER; }
uid_t geteuid(void) { return USER; }
gid_t getgid(void) { return USER; }
gid_t getegid(void) { return USER; }

/* The C library's gethostname() asks here. */
int uname(struct utsname *name) {
    memset(name, 0, sizeof *name);
    strcpy(name->sysname, "Banyan");
    banyan_hostname(name->nodename, sizeof name->nodename);
    strcpy(name->release, "0");
    strcpy(name->version, "0");
    strcpy(name->machine, "wasm32");
    return 0;
}

char *getlogin(void) {
    char *name = getenv("LOGNAME");
    if (name == NULL) name = getenv("USER");
    if (name == NULL) errno = ENXIO;
    return name;
}

int getlogin_r(char *name, size_t room) {
    const char *known = getlogin();
    if (known == NULL) return ENXIO;
    if (strlen(known) >= room) return ERANGE;
    strcpy(name, known);
    return 0;
}

struct passwd *getpwuid(uid_t uid) {
    static struct passwd user;
    char *name = getlogin();
    char *home = getenv("HOME");
    if (uid != USER || name == NULL) return NULL;
    user.pw_name = user.pw_gecos = name;
    user.pw_passwd = user.pw_shell = (char *)"";
    user.pw_uid = user.pw_gid = USER;
    user.pw_dir = home == NULL ? (char *)"." : home;
    return &user;
}

struct passwd *getpwnam(const char *name) {
    struct passwd *user = getpwuid(USER);
    return user != NULL && strcmp(user->pw_name, name) == 0 ? user : NULL;
}

int h_errno;

/* The machine itself, which has the address that every machine has for itself. Others cannot be reached. */
struct hostent *gethostbyname(const char *name) {
    static char own[256], address[4] = { 127, 0, 0, 1 };
    static char *addresses[] = { address, NULL }, *aliases[] = { NULL };
    static struct hostent host = { own, aliases, AF_INET, sizeof address, addresses };
    banyan_hostname(own, sizeof own);
    if (strcmp(name, own) != 0 && strcmp(name, "localhost") != 0 && strcmp(name, "127.0.0.1") != 0) {
        h_errno = HOST_NOT_FOUND;
        return NULL;
    }
    return &host;
}

/* What it used and may use. */

int getrusage(int who, struct rusage *usage) {
    clock_t ticks = clock();
    memset(usage, 0, sizeof *usage);
    if (who != RUSAGE_SELF) return 0;
    usage->ru_utime.tv_sec = ticks / CLOCKS_PER_SEC;
    usage->ru_utime.tv_usec = ticks % CLOCKS_PER_SEC / (CLOCKS_PER_SEC / 1000000);
    usage->ru_maxrss = (long)banyan_memory.brk / 1024;
    return 0;
}

int getrlimit(int resource, struct rlimit *limit) {
    limit->rlim_cur = RLIM_INFINITY;
    if (resource == RLIMIT_DATA || resource == RLIMIT_AS) limit->rlim_cur = (rlim_t)(size_t)banyan_memory.limit;
    if (resource == RLIMIT_NOFILE) limit->rlim_cur = FILES_MAX;
    if (resource == RLIMIT_CORE) limit->rlim_cur = 0;
    limit->rlim_max = limit->rlim_cur;
    return 0;
}

int setrlimit(int resource, const struct rlimit *limit) {
    (void)resource, (void)limit;
    return 0;
}

mode_t umask(mode_t mask) {
    static mode_t now = 022;
    mode_t old = now;
    now = mask;
    return old;
}

/* A rank is one thread: it has one processor, number 0. */

static int is_rank(pid_t pid) {
    if (pid == 0 || pid == banyan_getpid()) return 1;
    errno = ESRCH;
    return 0;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
    if (!is_rank(pid)) return -1;
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(0, bytes, set);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set) {
    if (!is_rank(pid)) return -1;
    if (CPU_ISSET_S(0, bytes, set)) return 0;
    errno = EINVAL;
    return -1;
}

int sched_getcpu(void) { return 0; }

int banyan_cpu_count(size_t bytes, const cpu_set_t *set) {
    int count = 0;
    for (size_t i = 0; i < bytes; i++) count += __builtin_popcount(((const unsigned char *)set)[i]);
    return count;
}

/* What it cannot have. */

pid_t fork(void) { return refuse(); }
pid_t vfork(void) { return refuse(); }
int execl(const char *path, const char *argument, ...) { return (void)path, (void)argument, refuse(); }
int execlp(const char *file, const char *argument, ...) { return (void)file, (void)argument, refuse(); }
int execv(const char *path, char *const arguments[]) { return (void)path, (void)arguments, refuse(); }
int execvp(const char *file, char *const arguments[]) { return (void)file, (void)arguments, refuse(); }
int execve(const char *path, char *const arguments[], char *const environment[]) {
    return (void)path, (void)arguments, (void)environment, refuse();
}
int pipe(int ends[2]) { return (void)ends, refuse(); }
int dup(int descriptor) { return (void)descriptor, refuse(); }
int dup2(int descriptor, int other) { return (void)descriptor, (void)other, refuse(); }
int pause(void) { return refuse(); }
int getitimer(int which, struct itimerval *value) { return (void)which, (void)value, refuse(); }
int setitimer(int which, const struct itimerval *value, struct itimerval *old) {
    return (void)which, (void)value, (void)old, refuse();
}

/* No alarm was set before, and none is now. */
unsigned alarm(unsigned seconds) {
    (void)seconds, (void)refuse();
    return 0;
}

/* Without a command it is the question whether there is a shell. */
int system(const char *command) { return command == NULL ? 0 : refuse(); }

FILE *popen(const char *command, const char *mode) {
    (void)command, (void)mode, (void)refuse();
    return NULL;
}

int pclose(FILE *stream) { return (void)stream, refuse(); }

static pid_t no_child(void) {
    errno = ECHILD;
    return -1;
}
pid_t wait(int *status) { return (void)status, no_child(); }
pid_t waitpid(pid_t pid, int *status, int options) { return (void)pid, (void)status, (void)options, no_child(); }
