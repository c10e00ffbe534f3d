/*
 * For images: a stencil whose sides are too long to travel with their envelopes, with non-blocking collectives that overlap
 * it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 12000, ROWS = 3, STEPS = 4 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *now = malloc(sizeof(double) * (ROWS + 2) * WIDTH), *next = malloc(sizeof(double) * (ROWS + 2) * WIDTH);
    int *big = malloc(sizeof(int) * WIDTH);
    for (int i = 0; i < (ROWS + 2) * WIDTH; i++) now[i] = next[i] = (rank * 37 + i % 101) % 29;
    int up = rank == 0 ? MPI_PROC_NULL : rank - 1, down = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    double residual = 0, total = 0, before = 0;
    MPI_Request reduction = MPI_REQUEST_NULL;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request sides[4], others[2];
        MPI_Irecv(now, WIDTH, MPI_DOUBLE, up, step, MPI_COMM_WORLD, &sides[0]);
        MPI_Irecv(now + (ROWS + 1) * WIDTH, WIDTH, MPI_DOUBLE, down, step, MPI_COMM_WORLD, &sides[1]);
        MPI_Isend(now + WIDTH, WIDTH, MPI_DOUBLE, up, step, MPI_COMM_WORLD, &sides[2]);
        MPI_Isend(now + ROWS * WIDTH, WIDTH, MPI_DOUBLE, down, step, MPI_COMM_WORLD, &sides[3]);
        for (int i = 0; i < WIDTH; i++) big[i] = rank == step % size ? step * i : -1;
        MPI_Ibcast(big, WIDTH, MPI_INT, step % size, MPI_COMM_WORLD, &others[0]);
        MPI_Ibarrier(MPI_COMM_WORLD, &others[1]);
        /* Inner rows while the sides travel; somebody has to look now and then. */
        int flag;
        for (int row = 2; row < ROWS; row++) {
            for (int i = 1; i < WIDTH - 1; i++)
                next[row * WIDTH + i] = 0.25 * (now[row * WIDTH + i - 1] + now[row * WIDTH + i + 1] +
                                                now[(row - 1) * WIDTH + i] + now[(row + 1) * WIDTH + i]);
            MPI_Testall(4, sides, &flag, MPI_STATUSES_IGNORE);
            if (flag) break;
        }
        MPI_Waitall(4, sides, MPI_STATUSES_IGNORE);
        if (reduction != MPI_REQUEST_NULL) MPI_Wait(&reduction, MPI_STATUS_IGNORE);
        before = total;
        for (int row = 1; row <= ROWS; row++)
            for (int i = 1; i < WIDTH - 1; i++)
                next[row * WIDTH + i] = 0.25 * (now[row * WIDTH + i - 1] + now[row * WIDTH + i + 1] +
                                                now[(row - 1) * WIDTH + i] + now[(row + 1) * WIDTH + i]);
        residual = 0;
        for (int i = WIDTH; i < (ROWS + 1) * WIDTH; i++) residual += (next[i] - now[i]) * (next[i] - now[i]);
        MPI_Iallreduce(&residual, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &reduction);
        MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
        double *kept = now;
        now = next, next = kept;
        printf("rank %d, step %d: %.17g, %d\n", rank, step, before, big[WIDTH - 1]);
    }
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    printf("rank %d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
