/*
 * Waits by reading the clock again and again, as programs do that pretend to compute: under message logging every reading is a choice, and
 * megabytes of them come in a second. Between, collectives on communicators of its own, which meet on boards in a node, and receives from any
 * source. What it prints is the same in every run.
 *
 *     clock-watching <steps> <microseconds of a step>
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void watch(double seconds) {
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < seconds) {}
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = atoi(argv[1]);
    double seconds = atof(argv[2]) * 1e-6;
    MPI_Comm node, reversed, twin;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_split(node, 0, -rank, &reversed);
    MPI_Comm_dup(reversed, &twin);
    MPI_Comm all[] = {MPI_COMM_WORLD, node, reversed, twin};
    long total = 0;
    for (int step = 0; step < steps; step++) {
        int mine = step * (rank + 1), sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all[step % 4]);
        total += sum;
        // Who sends to the neighbour is the same in every run, which of the two messages comes first is not.
        int got[2];
        MPI_Request sends[2];
        for (int i = 0; i < 2; i++)
            MPI_Isend(&mine, 1, MPI_INT, (rank + 1 + i) % size, step, MPI_COMM_WORLD, &sends[i]);
        for (int i = 0; i < 2; i++)
            MPI_Recv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        total += got[0] + got[1];
        MPI_Bcast(&total, 1, MPI_LONG, step % size, MPI_COMM_WORLD);
        if (rank == 0 && step % 50 == 49) {
            printf("%d: %ld\n", step + 1, total);
            fflush(stdout);
        }
        watch(seconds);
    }
    MPI_Comm_free(&twin);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&node);
    MPI_Finalize();
}
