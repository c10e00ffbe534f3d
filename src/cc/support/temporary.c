/*
 * Temporary files, which the WASI C library leaves out because WASI has no folder for them. /tmp is tried first, then the
 * current folder: which of them a program may use is decided by who starts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARKS = 6, TRIES_MAX = 100 };
static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
static const char *const folders[] = {"/tmp", "."};

static void draw(char *marks) {
    for (int i = 0; i < MARKS; i++) marks[i] = letters[arc4random_uniform(sizeof letters - 1)];
}

/* The XXXXXX at the end of a name, in whose place other letters are drawn. */
static char *marks_of(char *pattern) {
    size_t length = strlen(pattern);
    if (length >= MARKS && strcmp(pattern + length - MARKS, "XXXXXX") == 0) return pattern + length - MARKS;
    errno = EINVAL;
    return NULL;
}

int mkstemp(char *pattern) {
    char *marks = marks_of(pattern);
    if (marks == NULL) return -1;
    for (int i = 0; i < TRIES_MAX; i++) {
        draw(marks);
        int descriptor = open(pattern, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

char *mkdtemp(char *pattern) {
    char *marks = marks_of(pattern);
    if (marks == NULL) return NULL;
    for (int i = 0; i < TRIES_MAX; i++) {
        draw(marks);
        if (mkdir(pattern, 0700) == 0) return pattern;
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

char *mktemp(char *pattern) {
    char *marks = marks_of(pattern);
    if (marks == NULL) {
        *pattern = '\0';
        return pattern;
    }
    struct stat found;
    do draw(marks);
    while (stat(pattern, &found) == 0);
    return pattern;
}

char *tmpnam(char *name) {
    static char own[L_tmpnam];
    struct stat found;
    if (name == NULL) name = own;
    snprintf(name, L_tmpnam, "%s/tmp-XXXXXX", stat(folders[0], &found) == 0 ? folders[0] : folders[1]);
    return mktemp(name);
}

FILE *tmpfile(void) {
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char name[L_tmpnam];
        snprintf(name, sizeof name, "%s/tmp-XXXXXX", folders[i]);
        int descriptor = mkstemp(name);
        if (descriptor < 0) continue;
        unlink(name);
        return fdopen(descriptor, "w+");
    }
    return NULL;
}
