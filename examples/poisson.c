/*
 * A square membrane under even pressure: −Δu = 1 inside, u = 0 at the edge, by conjugate gradients. The rows of the grid are
 * dealt out to the ranks in bands; neighbours exchange their border rows, and two sums in each step go round everybody.
 *
 *     banyan run -n 8 --nodes 4 --protocol logging --checkpoint-every 1s examples/poisson.c [points in a row]
 *
 * Its height in the middle is known (0.0736713…). Rank 0 prints the residual on the way, and in the end a sum over
 * the bits of the whole solution: it is the same in every run, whatever was lost on the way.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct band {
    int size;             /* inner points in a row of the whole grid, and rows */
    int rows, first_row;  /* own rows, around which lies a border of one row */
    int above, below;     /* neighbours */
};

static double *new_band(const struct band *band) {
    double *values = calloc((size_t)(band->rows + 2) * (band->size + 2), sizeof *values);
    if (values == NULL) {
        fprintf(stderr, "poisson: no memory for %d rows of %d points\n", band->rows, band->size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return values;
}

static double *row_of(const struct band *band, double *values, int row) {
    return values + (size_t)(row + 1) * (band->size + 2) + 1;
}

static void exchange_borders(const struct band *band, double *values) {
    int size = band->size;
    MPI_Sendrecv(row_of(band, values, 0), size, MPI_DOUBLE, band->above, 0, row_of(band, values, band->rows), size,
                 MPI_DOUBLE, band->below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row_of(band, values, band->rows - 1), size, MPI_DOUBLE, band->below, 1, row_of(band, values, -1), size,
                 MPI_DOUBLE, band->above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* to = −Δ from, times the square of the distance of two points; returns from · to. */
static double apply(const struct band *band, double *to, double *from) {
    double sum = 0;
    exchange_borders(band, from);
    for (int row = 0; row < band->rows; row++) {
        const double *up = row_of(band, from, row - 1), *down = row_of(band, from, row + 1);
        const double *here = row_of(band, from, row);
        double *out = row_of(band, to, row);
        for (int i = 0; i < band->size; i++) {
            out[i] = 4 * here[i] - here[i - 1] - here[i + 1] - up[i] - down[i];
            sum += here[i] * out[i];
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double square(const struct band *band, double *values) {
    double sum = 0;
    for (int row = 0; row < band->rows; row++) {
        const double *here = row_of(band, values, row);
        for (int i = 0; i < band->size; i++) sum += here[i] * here[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* to = a · to + b · from */
static void combine(const struct band *band, double *to, double a, double b, double *from) {
    for (int row = 0; row < band->rows; row++) {
        const double *in = row_of(band, from, row);
        double *out = row_of(band, to, row);
        for (int i = 0; i < band->size; i++) out[i] = a * out[i] + b * in[i];
    }
}

static uint64_t bits_of(const struct band *band, double *values) {
    uint64_t sum = 0, bits;
    for (int row = 0; row < band->rows; row++) {
        const double *here = row_of(band, values, row);
        for (int i = 0; i < band->size; i++) {
            memcpy(&bits, &here[i], sizeof bits);
            sum += bits * (2 * ((uint64_t)(band->first_row + row) * band->size + i) + 1);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv) {
    int rank, ranks, step = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct band band = {.size = argc > 1 ? atoi(argv[1]) : 767};
    if (band.size < ranks || band.size > 20000) {
        if (rank == 0) fprintf(stderr, "poisson: give from %d to 20000 points in a row\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    band.first_row = (int)((long long)band.size * rank / ranks);
    band.rows = (int)((long long)band.size * (rank + 1) / ranks) - band.first_row;
    band.above = rank == 0 ? MPI_PROC_NULL : rank - 1;
    band.below = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;

    double *solution = new_band(&band), *rest = new_band(&band), *direction = new_band(&band), *image = new_band(&band);
    double distance = 1.0 / (band.size + 1);
    for (int row = 0; row < band.rows; row++) {
        for (int i = 0; i < band.size; i++) row_of(&band, rest, row)[i] = distance * distance;
    }
    combine(&band, direction, 0, 1, rest);
    double first = square(&band, rest), left = first;
    while (left > 1e-20 * first) {
        double alpha = left / apply(&band, image, direction);
        combine(&band, solution, 1, alpha, direction);
        combine(&band, rest, 1, -alpha, image);
        double before = left;
        left = square(&band, rest);
        combine(&band, direction, left / before, 1, rest);
        if (++step % 200 == 0 && rank == 0) {
            printf("step %4d: residual %.2e\n", step, sqrt(left / first));
            fflush(stdout);
        }
    }
    uint64_t bits = bits_of(&band, solution);
    double height = 0;
    int middle = band.size / 2 - band.first_row;
    if (middle >= 0 && middle < band.rows) height = row_of(&band, solution, middle)[band.size / 2];
    MPI_Allreduce(MPI_IN_PLACE, &height, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d steps; height in the middle %.7f (exact 0.0736713); bits of the solution %016llx\n", step, height,
               (unsigned long long)bits);
    }
    MPI_Finalize();
    /* The error of the method falls with the square of the distance between points. */
    return fabs(height - 0.0736713) < 1e-5 + 0.2 * distance * distance ? 0 : 1;
}
