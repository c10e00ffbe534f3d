/* π by the midpoint rule, the intervals dealt out among the ranks: banyan run -n 4 examples/pi.c */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    long intervals = argc > 1 ? atol(argv[1]) : 20000000;
    double mine = 0, pi = 0;
    for (long i = rank; i < intervals; i += size) {
        double x = (i + 0.5) / intervals;
        mine += 4 / (1 + x * x) / intervals;
    }
    MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("π ≈ %.12f  (error %.1e, %d ranks)\n", pi, fabs(pi - acos(-1)), size);
    MPI_Finalize();
    return 0;
}
