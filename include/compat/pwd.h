/* The user database, which holds the one user there is. */
#ifndef BANYAN_PWD_H
#define BANYAN_PWD_H

#include <sys/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct passwd {
    char *pw_name;
    char *pw_passwd;
    uid_t pw_uid;
    gid_t pw_gid;
    char *pw_gecos;
    char *pw_dir;
    char *pw_shell;
};

struct passwd *getpwuid(uid_t uid);
struct passwd *getpwnam(const char *name);

#if defined(__cplusplus)
}
#endif

#endif
