/*
 * From the start of the program to its `main`, which clang names after its parameters. The C library has this too, but asks
 * for `main` weakly: it would not be taken from an archive, and a program without one would link.
 */
#include <stdlib.h>
#include <sysexits.h>
#include <wasi/api.h>

int __main_argc_argv(int argc, char **argv);

/* Stands behind the program's own, which is there if `main` has no parameters. */
int __main_void(void) {
    size_t count, bytes;
    if (__wasi_args_sizes_get(&count, &bytes) != 0) _Exit(EX_OSERR);
    char **words = calloc(count + 1, sizeof *words);
    char *text = malloc(bytes);
    if (words == NULL || (text == NULL && bytes > 0)) _Exit(EX_SOFTWARE);
    if (__wasi_args_get((uint8_t **)words, (uint8_t *)text) != 0) _Exit(EX_OSERR);
    return __main_argc_argv((int)count, words);
}
