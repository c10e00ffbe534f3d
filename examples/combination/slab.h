/*
 * One grid's solution in time, or the rows of it that one process has.
 *
 * Both problems are sums of one-dimensional operators with constant coefficients, so a time step is a sweep along each axis in
 * turn with a stencil of three points. A grid has 2^l_k points along axis k, at i * 2^-l_k, and the point at 1 is the point at 0:
 * the domain is periodic, or the solution is zero at the edge, where it is 0 at both. Values are in row-major order; a slab is a
 * range of rows, the points of axis 0, with a border row at either side. All grids take the same time steps, those that the finest
 * level needs: then the error of time is the same everywhere, and does not disturb the combination.
 */
#ifndef SLAB_H
#define SLAB_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "room.h"

/* Weights of the point before, the point itself and the point behind. */
struct stencil {
    double before, here, behind;
};

struct problem {
    const char *name;
    /* Is the solution zero at the edge of the domain? Otherwise the domain is periodic. */
    bool is_zero_at_edge;
    /* Time steps of all grids. */
    int (*steps)(int finest);
    struct stencil (*stencil)(int axis, int points, int steps);
    /* The solution at the beginning, and at the end; it is a product of functions of one coordinate. */
    double (*start)(int axis, double x);
    double (*exact)(int axis, double x);
};

struct rows {
    int first, count;
};

/* The rows of one of `size` processes. Where there are more processes than rows, the last ones have none. */
static inline struct rows rows_of(const int *level, int rank, int size) {
    int rows = 1 << level[0], busy = size < rows ? size : rows;
    if (rank >= busy) return (struct rows){rows, 0};
    int first = rows * rank / busy;
    return (struct rows){first, rows * (rank + 1) / busy - first};
}

/* Points of a row: of all axes but the first. */
static inline int row_points(int dims, const int *level) {
    int points = 1;
    for (int axis = 1; axis < dims; axis++) points *= 1 << level[axis];
    return points;
}

/* Values of a product of functions of one coordinate, at the points of some rows. */
static inline void sample(double (*f)(int axis, double x), int dims, const int *level, struct rows rows, double *values) {
    int row = row_points(dims, level), stride = row;
    for (int i = 0; i < rows.count * row; i++) values[i] = 1;
    for (int axis = 0; axis < dims; axis++) {
        int points = 1 << level[axis];
        double *factors = room((size_t)points, sizeof *factors);
        if (axis > 0) stride /= points;
        for (int i = 0; i < points; i++) factors[i] = f(axis, (double)i / points);
        for (int i = 0; i < rows.count * row; i++) {
            int at = i / stride;
            values[i] *= factors[axis == 0 ? rows.first + at : at % points];
        }
        free(factors);
    }
}

struct slab {
    const struct problem *problem;
    int dims;
    const int *level;
    struct rows rows;
    int steps, row;
    double *values, *next; /* with a border row before and behind */
};

static inline struct slab new_slab(const struct problem *problem, int dims, const int *level, int finest, struct rows rows) {
    struct slab slab = {problem, dims, level, rows, problem->steps(finest), row_points(dims, level), NULL, NULL};
    size_t size = (size_t)(rows.count + 2) * (size_t)slab.row;
    slab.values = room(size, sizeof(double));
    slab.next = room(size, sizeof(double));
    sample(problem->start, dims, level, rows, slab.values + slab.row);
    return slab;
}

static inline void free_slab(struct slab *slab) {
    free(slab->values);
    free(slab->next);
}

/* Row -1 and row `count` are the border rows. */
static inline double *row_at(const struct slab *slab, int row) {
    return slab->values + (size_t)(row + 1) * (size_t)slab->row;
}

static inline void sweep(struct slab *slab, int axis, int stride) {
    int points = axis == 0 ? slab->rows.count : 1 << slab->level[axis];
    struct stencil weights = slab->problem->stencil(axis, 1 << slab->level[axis], slab->steps);
    bool has_edge = slab->problem->is_zero_at_edge && (axis > 0 || slab->rows.first == 0);
    const double *from = slab->values;
    double *to = slab->next;
    for (int line = slab->row; line < (slab->rows.count + 1) * slab->row; line += points * stride) {
        for (int i = 0; i < points; i++) {
            /* The lines of axis 0 go on in the border rows, the others begin again. */
            int at = line + i * stride;
            int left = axis > 0 && i == 0 ? line + (points - 1) * stride : at - stride;
            int right = axis > 0 && i == points - 1 ? line : at + stride;
            for (int j = 0; j < stride; j++) {
                to[at + j] = weights.before * from[left + j] + weights.here * from[at + j] + weights.behind * from[right + j];
            }
        }
        if (has_edge) memset(to + line, 0, (size_t)stride * sizeof *to);
    }
    slab->next = slab->values;
    slab->values = to;
}

/* One time step. The border rows are those of the neighbours. */
static inline void step(struct slab *slab) {
    int stride = slab->row;
    sweep(slab, 0, stride);
    for (int axis = 1; axis < slab->dims; axis++) {
        stride /= 1 << slab->level[axis];
        sweep(slab, axis, stride);
    }
}

/* The whole grid in one process. */
static inline void solve_alone(const struct problem *problem, int dims, const int *level, int finest, double *values) {
    struct slab slab = new_slab(problem, dims, level, finest, rows_of(level, 0, 1));
    int rows = slab.rows.count;
    size_t bytes = (size_t)slab.row * sizeof *values;
    for (int i = 0; i < slab.steps; i++) {
        memcpy(row_at(&slab, -1), row_at(&slab, rows - 1), bytes);
        memcpy(row_at(&slab, rows), row_at(&slab, 0), bytes);
        step(&slab);
    }
    memcpy(values, row_at(&slab, 0), (size_t)rows * bytes);
    free_slab(&slab);
}

/*
 * sin(2 pi x) from additions, multiplications and divisions alone: the sines of C and of JavaScript may differ in their last
 * bit, and both languages shall come to the same numbers. A Taylor series for the first quarter of a turn.
 */
static inline double sine(double turns) {
    double x = turns - floor(turns), sign = x < 0.5 ? 1 : -1, series = 1;
    if (x >= 0.5) x -= 0.5;
    if (x > 0.25) x = 0.5 - x;
    double t = 6.283185307179586 * x;
    for (int k = 22; k >= 2; k -= 2) series = 1 - t * t / (k * (k + 1)) * series;
    return sign * t * series;
}

#endif
