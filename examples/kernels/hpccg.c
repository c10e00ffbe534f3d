/*
 * Conjugate gradients on a sparse matrix, as in the Mantevo mini-application HPCCG: a box of points, each row couples a point
 * with its 26 neighbours (27 on the diagonal, -1 elsewhere), and the right-hand side is such that the solution is all ones.
 *
 *     banyan run -n 4 examples/kernels/hpccg.c [nx] [ny] [nz] [iterations]
 *
 * Every rank has a box of nx x ny x nz points and the boxes are stacked in z, so the problem grows with the ranks. Before a
 * product with the matrix a rank needs one plane of each neighbour. It takes them in the order in which they come
 * (MPI_ANY_SOURCE): the status says on which side a plane belongs.
 */
#include "kernel.h"

enum { row_entries_max = 27, plane_tag = 1 };

static const double diagonal = 27, coupling = -1;
/* Nothing is left to improve, and the next quotient would be of numbers too small to be held. */
static const double residual_square_min = 1e-280;

struct box {
    int nx, ny, nz;
    int rank, ranks;
    int plane; /* points of one */
    int rows;  /* own points */
};

/* Rows are stored one after the other, as in HPCCG; an entry names its column in a vector with halo planes. */
struct matrix {
    int *row_start;
    int *column;
    double *value;
    long entries;
};

/* Vectors that are multiplied by the matrix have a plane of each neighbour before and behind the own points. */
struct vectors {
    double *direction; /* with halo */
    double *arrived;   /* a plane that nobody has looked at yet */
    double *product, *residual, *solution, *right;
};

/* Whether the whole stack of boxes has such a point; z counts from the own box. */
static bool point_exists(const struct box *box, int x, int y, int z) {
    bool is_above_floor = z >= 0 || box->rank > 0, is_below_roof = z < box->nz || box->rank + 1 < box->ranks;
    return x >= 0 && x < box->nx && y >= 0 && y < box->ny && is_above_floor && is_below_roof;
}

static long fill_row(const struct box *box, struct matrix *matrix, int x, int y, int z, long entry) {
    for (int dz = -1; dz <= 1; dz++) {
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                if (!point_exists(box, x + dx, y + dy, z + dz)) continue;
                matrix->column[entry] = ((z + dz + 1) * box->ny + y + dy) * box->nx + x + dx;
                matrix->value[entry] = dx == 0 && dy == 0 && dz == 0 ? diagonal : coupling;
                entry++;
            }
        }
    }
    return entry;
}

static struct matrix make_matrix(const struct box *box) {
    struct matrix matrix = {
        .row_start = kernel_allocate((size_t)box->rows + 1, sizeof(int)),
        .column = kernel_allocate((size_t)box->rows * row_entries_max, sizeof(int)),
        .value = kernel_doubles((size_t)box->rows * row_entries_max),
    };
    int row = 0;
    for (int z = 0; z < box->nz; z++) {
        for (int y = 0; y < box->ny; y++) {
            for (int x = 0; x < box->nx; x++) {
                matrix.entries = fill_row(box, &matrix, x, y, z, matrix.entries);
                matrix.row_start[++row] = (int)matrix.entries;
            }
        }
    }
    return matrix;
}

/* The row sums, so that the solution is all ones. */
static void fill_right_side(const struct matrix *matrix, int rows, double *restrict right) {
    for (int row = 0; row < rows; row++) {
        int others = matrix->row_start[row + 1] - matrix->row_start[row] - 1;
        right[row] = diagonal + coupling * others;
    }
}

/*
 * Planes of both neighbours, in any order. No plane of the next product can come early: a rank enters that product only after
 * a sum over all ranks, which this rank joins after it has received both planes of this one.
 */
static void exchange_planes(const struct box *box, double *restrict vector, double *restrict arrived) {
    MPI_Request sends[2];
    int below = box->rank - 1, above = box->rank + 1, count = 0;
    double *own = vector + box->plane;
    if (below >= 0) MPI_Isend(own, box->plane, MPI_DOUBLE, below, plane_tag, MPI_COMM_WORLD, &sends[count++]);
    if (above < box->ranks) {
        double *last = own + box->rows - box->plane;
        MPI_Isend(last, box->plane, MPI_DOUBLE, above, plane_tag, MPI_COMM_WORLD, &sends[count++]);
    }
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        MPI_Recv(arrived, box->plane, MPI_DOUBLE, MPI_ANY_SOURCE, plane_tag, MPI_COMM_WORLD, &status);
        double *halo = status.MPI_SOURCE == below ? vector : own + box->rows;
        memcpy(halo, arrived, (size_t)box->plane * sizeof(double));
    }
    MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
}

static void multiply(int rows, const int *restrict row_start, const int *restrict column, const double *restrict value,
                     const double *restrict vector, double *restrict product) {
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (int entry = row_start[row]; entry < row_start[row + 1]; entry++) sum += value[entry] * vector[column[entry]];
        product[row] = sum;
    }
}

static double dot(int rows, const double *restrict a, const double *restrict b) {
    double sum = 0;
    for (int i = 0; i < rows; i++) sum += a[i] * b[i];
    return sum;
}

static double square(int rows, const double *restrict a) {
    double sum = 0;
    for (int i = 0; i < rows; i++) sum += a[i] * a[i];
    return sum;
}

/* y = y + factor * x */
static void add_scaled(int rows, double *restrict y, double factor, const double *restrict x) {
    for (int i = 0; i < rows; i++) y[i] += factor * x[i];
}

/* y = x + factor * y */
static void scale_and_add(int rows, double *restrict y, double factor, const double *restrict x) {
    for (int i = 0; i < rows; i++) y[i] = x[i] + factor * y[i];
}

/* A fixed number of iterations from zero; returns the norm of the residual. */
static double conjugate_gradients(const struct box *box, const struct matrix *matrix, struct vectors *v, int iterations) {
    int rows = box->rows;
    double *direction = v->direction + box->plane;
    memcpy(v->residual, v->right, (size_t)rows * sizeof(double));
    double residual_square = kernel_reduce(square(rows, v->residual), MPI_SUM);
    double previous = residual_square;
    for (int iteration = 0; iteration < iterations; iteration++) {
        scale_and_add(rows, direction, iteration == 0 ? 0 : residual_square / previous, v->residual);
        exchange_planes(box, v->direction, v->arrived);
        multiply(rows, matrix->row_start, matrix->column, matrix->value, v->direction, v->product);
        double alpha = residual_square / kernel_reduce(dot(rows, direction, v->product), MPI_SUM);
        add_scaled(rows, v->solution, alpha, direction);
        add_scaled(rows, v->residual, -alpha, v->product);
        previous = residual_square;
        residual_square = kernel_reduce(square(rows, v->residual), MPI_SUM);
        if (residual_square < residual_square_min) break;
    }
    return sqrt(residual_square);
}

/*
 * By Gershgorin's circles the eigenvalues lie between 1 and 53, so theory bounds the error of every iteration: in the norm of
 * the matrix it is at most 2 r^k times the first one, r = (sqrt(53) - 1) / (sqrt(53) + 1). The first error is all ones, its
 * square in that norm the sum of the right-hand side, and no component is larger than the norm. Rounding adds a little.
 */
static struct verdict judge_solution(const struct box *box, const struct vectors *v, int iterations) {
    double distance = 0, sum = 0;
    for (int i = 0; i < box->rows; i++) {
        distance = fmax(distance, fabs(v->solution[i] - 1));
        sum += v->right[i];
    }
    distance = kernel_reduce(distance, MPI_MAX);
    sum = kernel_reduce(sum, MPI_SUM);
    double rate = (sqrt(53) - 1) / (sqrt(53) + 1);
    double bound = 2 * pow(rate, iterations) * sqrt(sum) + 1e-10;
    return (struct verdict){distance, bound, distance <= bound};
}

int main(int argc, char **argv) {
    struct kernel kernel = kernel_start(&argc, &argv, "hpccg", "[nx] [ny] [nz] [iterations]");
    kernel_arguments_max(&kernel, 4);
    struct box box = {.rank = kernel.rank, .ranks = kernel.ranks};
    box.nx = kernel_option(&kernel, (struct option){1, "nx", 64, 2, 256});
    box.ny = kernel_option(&kernel, (struct option){2, "ny", box.nx, 2, 256});
    box.nz = kernel_option(&kernel, (struct option){3, "nz", box.nx, 2, 256});
    int iterations = kernel_option(&kernel, (struct option){4, "iterations", 60, 1, 100000});
    box.plane = box.nx * box.ny;
    box.rows = box.plane * box.nz;

    struct matrix matrix = make_matrix(&box);
    size_t rows = (size_t)box.rows;
    struct vectors vectors = {
        .direction = kernel_doubles(rows + 2 * (size_t)box.plane),
        .arrived = kernel_doubles((size_t)box.plane),
        .product = kernel_doubles(rows),
        .residual = kernel_doubles(rows),
        .solution = kernel_doubles(rows),
        .right = kernel_doubles(rows),
    };
    fill_right_side(&matrix, box.rows, vectors.right);
    double start = kernel_clock();
    double residual = conjugate_gradients(&box, &matrix, &vectors, iterations);
    double seconds = kernel_clock() - start;
    double entries = kernel_reduce((double)matrix.entries, MPI_SUM), points = (double)box.rows * kernel.ranks;

    kernel_title(&kernel, "conjugate gradients, 27-point stencil, weak scaling");
    kernel_line(&kernel, "size", "%d x %d x %d points on each rank, %d iterations", box.nx, box.ny, box.nz, iterations);
    kernel_line(&kernel, "ranks", "%d", kernel.ranks);
    kernel_line(&kernel, "time", "%.3f s", seconds);
    kernel_line(&kernel, "rate", "%.1f Mflop/s", (2 * entries + 10 * points) * iterations / seconds * 1e-6);
    kernel_line(&kernel, "residual", "%.3e", residual);
    return kernel_finish(&kernel, judge_solution(&box, &vectors, iterations));
}
