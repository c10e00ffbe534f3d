/* Mistakes that end a program: the first argument says which. The tests know the lines of this file. */
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point { double x, y, z; };
static struct point *nowhere;
static volatile int zero;

__attribute__((noinline)) static int divide(int a, int b) { return a / b; } /* line 12 */

__attribute__((noinline)) static void write_member(struct point *p) {
    p->y = 1.0; /* line 15 */
}

__attribute__((noinline)) static double read_member(struct point *p) {
    return p->z; /* line 19 */
}

__attribute__((noinline)) static long endless(long n) {
    char room[4096];
    memset(room, (int)n, sizeof room);
    return endless(n + 1) + room[n & 4095]; /* line 25 */
}

__attribute__((noinline)) static void far(int *p) {
    p[1 << 29] = 1; /* line 29 */
}

__attribute__((noinline)) static int through(int (*function)(int)) { return function(1); } /* line 32 */

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "divide") == 0) printf("%d\n", divide(rank + 1, zero)); /* line 39 */
    if (strcmp(what, "write") == 0) write_member(nowhere);                   /* line 40 */
    if (strcmp(what, "zero") == 0) *(volatile double *)nowhere = 0.5;        /* line 41 */
    if (strcmp(what, "read") == 0) printf("%g\n", read_member(nowhere));     /* line 42 */
    if (strcmp(what, "deep") == 0) printf("%ld\n", endless(rank));           /* line 43 */
    if (strcmp(what, "far") == 0) far((int *)0x70000000);                    /* line 44 */
    if (strcmp(what, "pointer") == 0) printf("%d\n", through((int (*)(int))(size_t)zero));
    if (strcmp(what, "trap") == 0) __builtin_trap(); /* line 46 */
    if (strcmp(what, "abort") == 0) abort();         /* line 47 */
    if (strcmp(what, "assert") == 0) assert(rank < 0);
    if (strcmp(what, "finalized") == 0) {
        MPI_Finalize();
        write_member(nowhere);
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD); /* line 54 */
    MPI_Finalize();
    return 0;
}
