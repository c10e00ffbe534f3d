/*
 * A dense system of equations by LU decomposition with partial pivoting, as in High-Performance Linpack: blocks of columns are
 * dealt out to the ranks in turn; the owner of a block factors it and broadcasts the panel, and everybody updates the columns
 * to the right of it with a product of matrices, where nearly all the time goes.
 *
 *     banyan run -n 4 examples/kernels/hpl.c [size] [block]
 *
 * The right-hand side is one more column, so elimination treats it like the others. Verified as in HPL:
 * max |Ax - b| / (eps (max |x| max |A| + max |b|) n) < 16, with A and b made anew.
 */
#include "kernel.h"

enum { tile_rows = 4, tile_columns = 4, result_tag = 2 };

static const double residual_max = 16;

struct system {
    int rank, ranks;
    int size, block;
    int columns;   /* own ones */
    double *data;  /* own columns, one after the other, each with `size` rows */
    double *panel; /* the factored columns of the current block, from its diagonal down */
    int *pivots;   /* rows of the matrix that the current block exchanged with its own */
};

/* The element of row i and column j of the matrix with the right-hand side as column `size`: the same for every rank. */
static double element(int size, int i, int j) {
    uint64_t bits = hash_bits(((uint64_t)j * (uint64_t)size + (uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    return (double)(bits >> 11) * 0x1p-53 - 0.5;
}

static int owner_of(const struct system *system, int column) { return column / system->block % system->ranks; }

/* Where the first own column at or behind a column of the whole matrix is stored. */
static int local_column(const struct system *system, int column) {
    int block = column / system->block, rounds = block / system->ranks, turn = block % system->ranks;
    if (turn == system->rank) return rounds * system->block + column % system->block;
    return (rounds + (system->rank < turn)) * system->block;
}

static int global_column(const struct system *system, int local) {
    return (local / system->block * system->ranks + system->rank) * system->block + local % system->block;
}

static double *column_data(const struct system *system, int local) { return system->data + (size_t)local * system->size; }

static int count_columns(const struct system *system) {
    int count = 0;
    for (int column = 0; column <= system->size; column++) count += owner_of(system, column) == system->rank;
    return count;
}

static void fill_columns(struct system *system) {
    for (int local = 0; local < system->columns; local++) {
        int column = global_column(system, local);
        double *data = column_data(system, local);
        for (int i = 0; i < system->size; i++) data[i] = element(system->size, i, column);
    }
}

static int row_of_largest(const double *restrict data, int first, int end) {
    int row = first;
    for (int i = first + 1; i < end; i++) {
        if (fabs(data[i]) > fabs(data[row])) row = i;
    }
    return row;
}

/* y = y - factor * x */
static void subtract_scaled(double *restrict y, const double *restrict x, double factor, int count) {
    for (int i = 0; i < count; i++) y[i] -= factor * x[i];
}

static void scale(double *restrict y, double factor, int count) {
    for (int i = 0; i < count; i++) y[i] *= factor;
}

static void swap_rows(const struct system *system, int first_local, int end_local, int a, int b) {
    if (a == b) return;
    for (int local = first_local; local < end_local; local++) {
        double *data = column_data(system, local);
        double kept = data[a];
        data[a] = data[b];
        data[b] = kept;
    }
}

/* The owner's part: eliminates within the block of `width` columns whose diagonal starts at `first`. */
static void factor_panel(struct system *system, int first, int width) {
    int local = local_column(system, first), size = system->size;
    for (int step = 0; step < width; step++) {
        double *column = column_data(system, local + step);
        int diagonal = first + step, below = size - diagonal - 1;
        int pivot = row_of_largest(column, diagonal, size);
        system->pivots[step] = pivot;
        swap_rows(system, local, local + width, diagonal, pivot);
        scale(column + diagonal + 1, 1 / column[diagonal], below);
        for (int other = step + 1; other < width; other++) {
            double *target = column_data(system, local + other);
            subtract_scaled(target + diagonal + 1, column + diagonal + 1, target[diagonal], below);
        }
    }
    for (int step = 0; step < width; step++) {
        double *column = column_data(system, local + step);
        memcpy(system->panel + (size_t)step * (size - first), column + first, (size_t)(size - first) * sizeof(double));
    }
}

/* Rows first .. first + width of a column: forward substitution with the unit lower triangle at the panel's top. */
static void solve_top(const double *restrict panel, int height, int width, double *restrict column) {
    for (int step = 0; step < width; step++) {
        subtract_scaled(column + step + 1, panel + (size_t)step * height + step + 1, column[step], width - step - 1);
    }
}

/*
 * A tile of 4 x 4 elements of target -= panel * top, kept in registers over the whole depth: this is the loop that counts.
 * Columns of the panel are `height` doubles apart, columns of `target` and `top` `size` doubles.
 */
static inline void update_tile(int depth, const double *restrict panel, size_t height, const double *restrict top, size_t size,
                               double *restrict target) {
    double sum[tile_columns][tile_rows] = {{0}};
    for (int k = 0; k < depth; k++) {
        const double *restrict left = panel + (size_t)k * height;
        for (int j = 0; j < tile_columns; j++) {
            double factor = top[(size_t)j * size + k];
            for (int i = 0; i < tile_rows; i++) sum[j][i] += left[i] * factor;
        }
    }
    for (int j = 0; j < tile_columns; j++) {
        for (int i = 0; i < tile_rows; i++) target[(size_t)j * size + i] -= sum[j][i];
    }
}

/* Rows that do not fill a tile, for one column. */
static void update_rest(int depth, const double *restrict panel, size_t height, const double *restrict top, int rows,
                        double *restrict target) {
    for (int k = 0; k < depth; k++) subtract_scaled(target, panel + (size_t)k * height, top[k], rows);
}

/* target -= panel * top for `columns` columns of the own part; `top` and `target` are rows of the same columns. */
static void update_columns(int depth, const double *restrict panel, int height, const double *top, double *target, size_t size,
                           int rows, int columns) {
    int tiled_rows = rows - rows % tile_rows, tiled_columns = columns - columns % tile_columns;
    for (int i = 0; i < tiled_rows; i += tile_rows) {
        for (int j = 0; j < tiled_columns; j += tile_columns) {
            update_tile(depth, panel + i, (size_t)height, top + (size_t)j * size, size, target + (size_t)j * size + i);
        }
    }
    for (int j = 0; j < columns; j++) {
        int done = j < tiled_columns ? tiled_rows : 0;
        update_rest(depth, panel + done, (size_t)height, top + (size_t)j * size, rows - done, target + (size_t)j * size + done);
    }
}

/* Everybody's part: own columns right of the panel exchange the rows that it exchanged and are eliminated with it. */
static void apply_panel(struct system *system, int first, int width) {
    int begin = local_column(system, first + width), columns = system->columns - begin;
    int height = system->size - first;
    if (columns <= 0) return;
    for (int step = 0; step < width; step++) swap_rows(system, begin, system->columns, first + step, system->pivots[step]);
    for (int j = 0; j < columns; j++) solve_top(system->panel, height, width, column_data(system, begin + j) + first);
    double *top = column_data(system, begin) + first;
    update_columns(width, system->panel + width, height, top, top + width, (size_t)system->size, height - width, columns);
}

static int block_width(const struct system *system, int first) {
    int left = system->size - first;
    return left < system->block ? left : system->block;
}

static void factorise(struct system *system) {
    for (int first = 0; first < system->size; first += system->block) {
        int width = block_width(system, first), owner = owner_of(system, first);
        if (system->rank == owner) factor_panel(system, first, width);
        MPI_Bcast(system->pivots, width, MPI_INT, owner, MPI_COMM_WORLD);
        MPI_Bcast(system->panel, width * (system->size - first), MPI_DOUBLE, owner, MPI_COMM_WORLD);
        apply_panel(system, first, width);
    }
}

/* Solves with one block of the upper triangle, and takes what it found out of the equations above. */
static void solve_block(const struct system *system, int first, int width, double *right) {
    int local = local_column(system, first);
    for (int step = width - 1; step >= 0; step--) {
        const double *column = column_data(system, local + step);
        right[first + step] /= column[first + step];
        subtract_scaled(right, column, right[first + step], first + step);
    }
}

/*
 * Back substitution: the right-hand side wanders from the owner of the last block to the owner of the first one, and what is
 * behind the block that is being solved is the solution. In the end all ranks have it.
 */
static void substitute_back(const struct system *system, double *right) {
    int size = system->size, holder = owner_of(system, size);
    if (system->rank == holder) {
        memcpy(right, column_data(system, local_column(system, size)), (size_t)size * sizeof(double));
    }
    for (int first = (size - 1) / system->block * system->block; first >= 0; first -= system->block) {
        int next = owner_of(system, first);
        if (next != holder && system->rank == holder) MPI_Send(right, size, MPI_DOUBLE, next, result_tag, MPI_COMM_WORLD);
        if (next != holder && system->rank == next) {
            MPI_Recv(right, size, MPI_DOUBLE, holder, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (system->rank == next) solve_block(system, first, block_width(system, first), right);
        holder = next;
    }
    MPI_Bcast(right, size, MPI_DOUBLE, holder, MPI_COMM_WORLD);
}

/* Rows of the original system are dealt out to the ranks, who make them anew. */
static struct verdict judge_solution(const struct system *system, const double *solution) {
    int size = system->size;
    double worst = 0, norm = 0, right_max = 0, solution_max = 0;
    for (int i = system->rank; i < size; i += system->ranks) {
        double right = element(size, i, size), rest = -right, row_sum = 0;
        for (int j = 0; j < size; j++) {
            double value = element(size, i, j);
            rest += value * solution[j];
            row_sum += fabs(value);
        }
        worst = fmax(worst, fabs(rest));
        norm = fmax(norm, row_sum);
        right_max = fmax(right_max, fabs(right));
    }
    for (int j = 0; j < size; j++) solution_max = fmax(solution_max, fabs(solution[j]));
    worst = kernel_reduce(worst, MPI_MAX);
    norm = kernel_reduce(norm, MPI_MAX);
    right_max = kernel_reduce(right_max, MPI_MAX);
    double residual = worst / (0.5 * DBL_EPSILON * (solution_max * norm + right_max) * size);
    return (struct verdict){residual, residual_max, residual < residual_max};
}

int main(int argc, char **argv) {
    struct kernel kernel = kernel_start(&argc, &argv, "hpl", "[size] [block]");
    kernel_arguments_max(&kernel, 2);
    struct system system = {.rank = kernel.rank, .ranks = kernel.ranks};
    system.size = kernel_option(&kernel, (struct option){1, "size", 2048, 1, 20000});
    system.block = kernel_option(&kernel, (struct option){2, "block", 32, 1, 1024});
    size_t size = (size_t)system.size;
    system.columns = count_columns(&system);
    system.data = kernel_doubles(size * (size_t)system.columns);
    system.panel = kernel_doubles(size * (size_t)system.block);
    system.pivots = kernel_allocate((size_t)system.block, sizeof(int));
    double *solution = kernel_doubles(size);

    fill_columns(&system);
    double start = kernel_clock();
    factorise(&system);
    substitute_back(&system, solution);
    double seconds = kernel_clock() - start;

    double n = system.size;
    kernel_title(&kernel, "dense system by LU decomposition, blocks of columns in turn");
    kernel_line(&kernel, "size", "%d x %d, blocks of %d columns", system.size, system.size, system.block);
    kernel_line(&kernel, "ranks", "%d", kernel.ranks);
    kernel_line(&kernel, "time", "%.3f s", seconds);
    kernel_line(&kernel, "rate", "%.1f Mflop/s", (2 * n * n * n / 3 + 3 * n * n / 2) / seconds * 1e-6);
    return kernel_finish(&kernel, judge_solution(&system, solution));
}
