/*
 * Rank 0 appends records of 16 MiB to a file, each by one call of write, and overwrites a second file of that size, until there is a file "enough": a test
 * that watches the sizes kills the process that performs them in the middle of one. Word k of record i is k + 7919 i. Argument: a folder.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { words = 4 << 20, rounds_max = 400 };

static unsigned record[words];

static int opened(const char *folder, const char *name, int flags) {
    char path[300];
    sprintf(path, "%s/%s", folder, name);
    return open(path, flags, 0644);
}

static void write_all(int file) {
    const char *from = (const char *)record;
    size_t left = sizeof record;
    while (left > 0) {
        ssize_t written = write(file, from, left);
        if (written <= 0) {
            perror("write");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        from += written;
        left -= written;
    }
}

int main(int argc, char **argv) {
    int rank, round, log = -1, table = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        log = opened(argv[1], "log", O_WRONLY | O_CREAT | O_APPEND);
        table = opened(argv[1], "table", O_WRONLY | O_CREAT);
    }
    for (round = 0; round < rounds_max; round++) {
        int is_enough = 0;
        if (rank == 0) {
            int file = opened(argv[1], "enough", O_RDONLY);
            is_enough = file >= 0;
            if (is_enough) close(file);
        }
        MPI_Bcast(&is_enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (is_enough) break;
        if (rank == 0) {
            for (int k = 0; k < words; k++) record[k] = k + 7919u * round;
            write_all(log);
            lseek(table, 0, SEEK_SET);
            write_all(table);
            printf("round %d\n", round);
            fflush(stdout);
        }
    }
    if (rank == 0) printf("%d rounds\n", round);
    MPI_Finalize();
    return 0;
}
