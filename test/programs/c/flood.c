/* Every rank prints many lines, far more than whoever stands between the program and its reader can hold, and sums up a message now and then. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int lines = atoi(argv[1]);
    for (int i = 0; i < lines; i++) {
        if (i % 1000 == 0) {
            long value = i;
            MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        }
        printf("rank %d line %d sum %ld %0*d\n", rank, i, sum, 40 + i % 37, i);
    }
    MPI_Finalize();
    return 0;
}
