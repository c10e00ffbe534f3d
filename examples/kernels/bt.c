/*
 * Block-tridiagonal solver: every line of a sweep is a system of 5 x 5 blocks that couples all five fields of a point with
 * those of its two neighbours. The equations, the grid and the pipeline over the ranks are in adi.h.
 *
 *     banyan run -n 4 examples/kernels/bt.c [size] [steps]
 *
 * After NAS benchmark BT. The right-hand side rides along as the sixth column of the upper block, so that rows of blocks are
 * three pairs of numbers, which is what the vector units of WebAssembly and of SSE2 hold.
 */
#include "adi.h"

enum { columns = fields + 1, pairs = columns / 2 };

/* Two numbers in one register: an extension of C that gcc and clang share. */
typedef double pair __attribute__((vector_size(16)));

typedef double block[fields][fields];
typedef pair wide_block[fields][pairs];

/* The derivative of the flux along an axis with respect to the five fields. */
static void flux_jacobian(const double *restrict u, int axis, block jacobian) {
    double inverse = 1 / u[0];
    double velocity[axes] = {u[1] * inverse, u[2] * inverse, u[3] * inverse};
    double normal = velocity[axis];
    double kinetic = 0.5 * (velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    double enthalpy = gas_gamma * u[4] * inverse - (gas_gamma - 1) * kinetic;
    for (int m = 0; m < fields; m++) jacobian[0][m] = 0;
    jacobian[0][1 + axis] = 1;
    for (int a = 0; a < axes; a++) {
        double *row = jacobian[1 + a];
        for (int m = 0; m < fields; m++) row[m] = 0;
        row[0] = -velocity[a] * normal;
        row[1 + a] += normal;
        row[1 + axis] += velocity[a];
    }
    double *momentum = jacobian[1 + axis], *energy = jacobian[4];
    momentum[0] += (gas_gamma - 1) * kinetic;
    for (int a = 0; a < axes; a++) {
        momentum[1 + a] -= (gas_gamma - 1) * velocity[a];
        energy[1 + a] = -(gas_gamma - 1) * velocity[a] * normal;
    }
    momentum[4] = gas_gamma - 1;
    energy[0] = normal * ((gas_gamma - 1) * kinetic - enthalpy);
    energy[1 + axis] += enthalpy;
    energy[4] = gas_gamma * normal;
}

/* out = factor * jacobian - diffuse * identity: the block that couples a point with a neighbour. */
static inline void coupling_block(block jacobian, double factor, double diffuse, block out) {
    for (int row = 0; row < fields; row++) {
        for (int column = 0; column < fields; column++) out[row][column] = factor * jacobian[row][column];
        out[row][row] -= diffuse;
    }
}

/* out = out - left * right */
static inline void multiply_subtract(wide_block out, block left, const pair right[restrict][pairs]) {
    for (int row = 0; row < fields; row++) {
        pair sum[pairs];
        for (int p = 0; p < pairs; p++) sum[p] = out[row][p];
        for (int k = 0; k < fields; k++) {
            for (int p = 0; p < pairs; p++) sum[p] -= left[row][k] * right[k][p];
        }
        for (int p = 0; p < pairs; p++) out[row][p] = sum[p];
    }
}

/*
 * One column of Gauss-Jordan elimination; what is left of it in `left` is never read again. Always inlined, so that the pivot
 * is a constant and all loops can be unrolled.
 */
__attribute__((always_inline)) static inline void eliminate_column(wide_block left, pair right[restrict][pairs], int pivot) {
    double inverse = 1 / left[pivot][pivot / 2][pivot % 2];
    int first = (pivot + 1) / 2;
    for (int p = first; p < pairs; p++) left[pivot][p] *= inverse;
    for (int p = 0; p < pairs; p++) right[pivot][p] *= inverse;
    for (int row = 0; row < fields; row++) {
        if (row == pivot) continue;
        double factor = left[row][pivot / 2][pivot % 2];
        for (int p = first; p < pairs; p++) left[row][p] -= factor * left[pivot][p];
        for (int p = 0; p < pairs; p++) right[row][p] -= factor * right[pivot][p];
    }
}

/* Solves left * x = right for six columns, in place; the blocks are dominated by their diagonal, so nothing is exchanged. */
static inline void solve_block(wide_block left, pair right[restrict][pairs]) {
    eliminate_column(left, right, 0);
    eliminate_column(left, right, 1);
    eliminate_column(left, right, 2);
    eliminate_column(left, right, 3);
    eliminate_column(left, right, 4);
}

/* Makes the equation of one point depend on the next point alone: x = last column - (the others) * x of the next point. */
static void eliminate_point(block lower, block upper, double diagonal, const double *restrict change,
                            const pair before[restrict][pairs], pair out[restrict][pairs]) {
    wide_block left = {{{0}}};
    for (int row = 0; row < fields; row++) {
        left[row][row / 2][row % 2] = diagonal;
        left[row][pairs - 1][1] = change[row];
    }
    multiply_subtract(left, lower, before);
    for (int row = 0; row < fields; row++) {
        const double *from = upper[row];
        out[row][0] = (pair){from[0], from[1]};
        out[row][1] = (pair){from[2], from[3]};
        out[row][2] = (pair){from[4], left[row][2][1]};
    }
    solve_block(left, out);
}

static void forward(const struct line *line, const double *restrict from_before, double *restrict to_after) {
    block ring[3], lower, upper;
    double(*jacobian_before)[fields] = ring[0], (*jacobian_here)[fields] = ring[1], (*jacobian_behind)[fields] = ring[2];
    const double *state = line->state, *change = line->change;
    const pair(*before)[pairs] = (const pair(*)[pairs])from_before;
    pair(*work)[pairs] = (pair(*)[pairs])line->work;
    double advect = line->stencil.advect, diffuse = line->stencil.diffuse;
    flux_jacobian(state - line->stride, line->axis, jacobian_before);
    flux_jacobian(state, line->axis, jacobian_here);
    for (int i = 0; i < line->points; i++) {
        flux_jacobian(state + line->stride, line->axis, jacobian_behind);
        coupling_block(jacobian_before, -advect, diffuse, lower);
        coupling_block(jacobian_behind, advect, diffuse, upper);
        eliminate_point(lower, upper, 1 + 2 * diffuse, change, before, work);
        before = (const pair(*)[pairs])work;
        work += fields;
        state += line->stride;
        change += line->stride;
        double(*free_block)[fields] = jacobian_before;
        jacobian_before = jacobian_here;
        jacobian_here = jacobian_behind;
        jacobian_behind = free_block;
    }
    memcpy(to_after, before, sizeof(wide_block));
}

static void backward(const struct line *line, const double *restrict from_after, double *restrict to_before) {
    double next[fields], here[fields];
    memcpy(next, from_after, sizeof next);
    for (int i = line->points - 1; i >= 0; i--) {
        const double *restrict equation = line->work + (size_t)i * fields * columns;
        double *restrict change = line->change + i * line->stride;
        for (int row = 0; row < fields; row++) {
            const double *factors = equation + row * columns;
            here[row] = factors[fields];
            for (int column = 0; column < fields; column++) here[row] -= factors[column] * next[column];
        }
        for (int row = 0; row < fields; row++) change[row] = next[row] = here[row];
    }
    memcpy(to_before, next, sizeof next);
}

static const struct line_solver block_tridiagonal = {
    .work_doubles = fields * columns,
    .forward_doubles = fields * columns,
    .backward_doubles = fields,
    .forward = forward,
    .backward = backward,
};

static const struct adi_reference references[] = {
    {12, 10, 2.0107597887647e-03},
    {24, 20, 1.0084760054804e-03},
    {36, 40, 2.2531390276662e-04},
    {36, 80, 2.8985930478447e-06},
    {64, 20, 1.0858225990450e-02},
};

int main(int argc, char **argv) {
    struct kernel kernel = kernel_start(&argc, &argv, "bt", "[size] [steps]");
    kernel_arguments_max(&kernel, 2);
    int size = kernel_option(&kernel, (struct option){1, "size", 36, 4, 512});
    int steps = kernel_option(&kernel, (struct option){2, "steps", 80, 1, 100000});
    return adi_main(&kernel, "block-tridiagonal solver, 5 x 5 blocks, alternating directions", &block_tridiagonal, references,
                    sizeof references / sizeof references[0], size, steps);
}
