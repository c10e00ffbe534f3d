/*
 * What a program sees of nodes, at every step: which ranks a split by shared memory puts together, and a sum whose messages go from
 * node to node. Messages of all sizes go round meanwhile, so that every way between two ranks is taken.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX (1 << 20)

static int rank, size;

/* Right is right of the sender, and what was sent at that step. */
static int ring(char *out, char *in, int bytes, int step) {
    int wrong = 0;
    memset(out, rank + step, bytes);
    MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, bytes & 1023, in, bytes, MPI_CHAR, (rank + size - 1) % size,
                 bytes & 1023, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; i++) wrong += in[i] != (char)((rank + size - 1) % size + step);
    return wrong;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    char *out = malloc(BYTES_MAX), *in = malloc(BYTES_MAX);
    for (int step = 0; step < steps; step++) {
        MPI_Comm mates;
        int lowest, together, wrong = 0;
        double one = 1.0 / (3 + rank + step), sum;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &mates);
        MPI_Comm_size(mates, &together);
        MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, mates);
        MPI_Comm_free(&mates);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        const int sizes[] = {0, 8, 5000, 60000, 200000, BYTES_MAX};
        for (int i = 0; i < 6; i++) wrong += ring(out, in, sizes[i], step);
        printf("step %d: %d together from rank %d, sum %a, %d bytes are wrong\n", step, together, lowest, sum, wrong);
        fflush(stdout);
        usleep(2000);
    }
    MPI_Finalize();
    return 0;
}
