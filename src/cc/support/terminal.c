/*
 * Is a stream a terminal? The C library itself takes standard streams for terminals, so that lines leave when they are whole also
 * through a pipe, as under other MPIs; a program that asks is told the truth.
 */
#include <errno.h>
#include <unistd.h>

#include "banyan.h"

/* 1, 0, or -1 where nothing is open. */
BANYAN_IMPORT("banyan", "isatty") int banyan_isatty(int descriptor);

int isatty(int descriptor) {
    const int answer = banyan_isatty(descriptor);
    if (answer > 0) return 1;
    errno = answer < 0 ? EBADF : ENOTTY;
    return 0;
}
