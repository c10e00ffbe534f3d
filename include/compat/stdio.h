/* What C and POSIX have in <stdio.h> and the WASI C library leaves out; src/cc/support/ defines it. */
#ifndef BANYAN_STDIO_H
/* The library declares these two in order to warn of them. */
#define tmpnam  banyan_no_tmpnam
#define tmpfile banyan_no_tmpfile
#include_next <stdio.h>
#undef tmpnam
#undef tmpfile
#else
#include_next <stdio.h>
#endif

#ifndef BANYAN_STDIO_H
#define BANYAN_STDIO_H

#define TMP_MAX  10000
#define L_tmpnam 32
#define P_tmpdir "/tmp"

#if defined(__cplusplus)
extern "C" {
#endif

char *tmpnam(char *name);
FILE *tmpfile(void);

/* There are no child processes: these fail with ENOSYS. */
FILE *popen(const char *command, const char *mode);
int pclose(FILE *stream);

#if defined(__cplusplus)
}
#endif

#endif
