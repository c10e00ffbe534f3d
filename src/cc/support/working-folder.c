/*
 * The current folder, which the C library begins with as "/". Here it begins as what the runtime gives as PWD: the folder that
 * the program knows as "." too. Both variable and function are the C library's, which has them in one file: this one stands
 * for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative names are meant from here; `chdir` changes it. */
char *__wasilibc_cwd = "/";

__attribute__((constructor)) static void begin(void) {
    char *given = getenv("PWD");
    if (given == NULL || given[0] != '/') return;
    /* `chdir` may free it, and the program may change its environment. */
    char *copy = strdup(given);
    if (copy != NULL) __wasilibc_cwd = copy;
}

char *getcwd(char *buffer, size_t size) {
    if (buffer == NULL) return strdup(__wasilibc_cwd);
    if (size == 0) {
        errno = EINVAL;
        return NULL;
    }
    if (strlen(__wasilibc_cwd) >= size) {
        errno = ERANGE;
        return NULL;
    }
    return strcpy(buffer, __wasilibc_cwd);
}
