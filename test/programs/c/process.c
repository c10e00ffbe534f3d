/* What a C program sees of its process, and how it may end: the first argument says which. */
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *what = argv[1];
    if (strcmp(what, "echo") == 0) {
        char line[100];
        if (rank == 0)
            while (fgets(line, sizeof line, stdin) != NULL) printf("read %s", line);
        fprintf(stderr, "to stderr from %d\n", rank);
        printf("%s %s %d\n", argv[2], getenv("BANYAN_TEST_WORD"), argc);
    } else if (strcmp(what, "jump") == 0) {
        jmp_buf place;
        int came = setjmp(place);
        if (came < 3) longjmp(place, came + 1);
        printf("jumped %d, deep %d\n", came, deep(100000));
    } else if (strcmp(what, "time") == 0) {
        double start = MPI_Wtime();
        usleep(50000);
        double took = MPI_Wtime() - start;
        printf("slept %s\n", took >= 0.045 && took < 2 ? "well" : "badly");
    } else if (strcmp(what, "memory") == 0) {
        size_t total = 0;
        /* volatile: the compiler knows malloc, and would do without it. */
        char *volatile block;
        while ((block = malloc(1 << 20)) != NULL) memset(block, 1, 1 << 20), total += 1 << 20;
        printf("got %s, errno %s\n", total > (100u << 20) ? "enough" : "too little", errno == ENOMEM ? "ENOMEM" : "?");
    } else if (strcmp(what, "exit") == 0) {
        if (rank == 1) exit(7);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "abort") == 0) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "raise") == 0) {
        if (rank == 1) raise(SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "trap") == 0) {
        volatile int zero = 0;
        if (rank == 1) printf("%d\n", 7 / zero);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "missing") == 0) {
        MPI_Win window;
        MPI_Win_create(&rank, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    } else if (strcmp(what, "file") == 0) {
        FILE *file = fopen(argv[2], "r");
        printf("%s\n", file == NULL ? strerror(errno) : "opened");
    }
    MPI_Finalize();
    return 0;
}
