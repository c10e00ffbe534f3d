/* A program that is frozen while it runs, and thawed: everything an image must hold is in use at every step. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static MPI_Comm halves;
static MPI_Datatype column;
static MPI_Op longest;

static void take_longer(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    const int *a = in;
    int *b = inout;
    for (int i = 0; i < *length; i++)
        if (a[i] > b[i]) b[i] = a[i];
}

/* Communicates at the bottom of a deep stack. */
static long deep(int depth, int step) {
    volatile long here = depth * 3L + step;
    if (depth > 0) return deep(depth - 1, step) + here;
    int one = step + rank, most = 0;
    MPI_Allreduce(&one, &most, 1, MPI_INT, longest, MPI_COMM_WORLD);
    return here + most;
}

static double exchange_columns(double (*grid)[16], int step) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request requests[4];
    MPI_Irecv(&grid[0][0], 1, column, left, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&grid[0][15], 1, column, right, 11, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&grid[0][14], 1, column, right, 10, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&grid[0][1], 1, column, left, 11, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    double sum = 0;
    for (int i = 0; i < 16; i++) {
        for (int j = 1; j < 15; j++) grid[i][j] = (grid[i][j - 1] + grid[i][j + 1]) / 2 + step % 3;
        sum += grid[i][7];
    }
    return sum;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves);
    MPI_Type_vector(16, 1, 16, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Op_create(take_longer, 1, &longest);

    double grid[16][16];
    for (int i = 0; i < 256; i++) grid[i / 16][i % 16] = rank + i % 7;
    const int big = 40000;
    double *field = malloc(big * sizeof *field);
    for (int i = 0; i < big; i++) field[i] = rank * 1.5 + i;

    char name[64];
    snprintf(name, sizeof name, "frozen-%d.log", rank);
    FILE *log = fopen(name, "a");
    const double begin = MPI_Wtime();
    double last = begin;
    jmp_buf back;
    volatile long total = 0;
    volatile int step = 0;
    setjmp(back);
    for (; step < steps; ) {
        /* Left hanging over the step: a receive from anybody, answered at the end of it. */
        int word = 0;
        MPI_Request open;
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 100 + step, MPI_COMM_WORLD, &open);
        total += deep(200, step);
        total += (long)exchange_columns(grid, step);
        MPI_Sendrecv_replace(field, big, MPI_DOUBLE, (rank + 1) % size, 20, (rank + size - 1) % size, 20, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        int of_half = rank;
        MPI_Bcast(&of_half, 1, MPI_INT, 0, halves);
        MPI_Send((int *)&step, 1, MPI_INT, size - 1 - rank, 100 + step, MPI_COMM_WORLD);
        MPI_Wait(&open, MPI_STATUS_IGNORE);
        total += word + of_half + (long)field[step % big];
        fprintf(log, "step %d total %ld\n", step, (long)total);
        const double now = MPI_Wtime();
        if (now < last) printf("rank %d: the clock went back\n", rank);
        last = now;
        if (rank == 0 && step % 10 == 0) printf("step %d\n", step);
        fflush(stdout);
        usleep(1000);
        step++;
        if (step % 7 == 0) longjmp(back, 1);
    }
    fclose(log);
    printf("rank %d of %d: %ld\n", rank, size, (long)total);
    MPI_Op_free(&longest);
    MPI_Type_free(&column);
    MPI_Comm_free(&halves);
    MPI_Finalize();
    return 0;
}
