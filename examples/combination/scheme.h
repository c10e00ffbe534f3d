/*
 * The grids of a combination and their coefficients.
 *
 * A grid has a level vector l: 2^l_k points along axis k. The solution is approximated by a sum of the solutions of many coarse
 * grids, each times its coefficient. Coefficients follow from a downset, a set of levels that has with every level all smaller
 * ones: by inclusion and exclusion every level of the downset counts once in the sum.
 *
 * A scheme is the largest downset: all levels that some l >= least with |l - least|_1 = depth reaches, from level 1 on. Its
 * coefficients are the classic ones, (-1)^q * binomial(d - 1, q) for l >= least on diagonal q, zero for all other levels (Griebel,
 * Schneider and Zenger, 1992). Those others are the small grids that take part when one of the classic ones is lost.
 */
#ifndef SCHEME_H
#define SCHEME_H

#include <stdbool.h>
#include <string.h>

#include "room.h"

enum { dims_max = 4 };

struct scheme {
    int dims;
    int least;  /* level of every axis that the classic combination has */
    int depth;
    int finest; /* level of every axis of the full grid */
    int count;  /* of levels */
    /* In lexicographic order: a smaller level is before all that are larger along every axis. */
    int (*levels)[dims_max];
    int *places; /* by the levels of the axes, less 1, in base finest: the place in levels, -1 outside */
};

static inline struct scheme new_scheme(int dims, int least, int depth) {
    struct scheme scheme = {.dims = dims, .least = least, .depth = depth, .finest = least + depth};
    int numbers = 1;
    for (int axis = 0; axis < dims; axis++) numbers *= scheme.finest;
    scheme.levels = room((size_t)numbers, sizeof *scheme.levels);
    scheme.places = room((size_t)numbers, sizeof *scheme.places);
    for (int number = 0; number < numbers; number++) {
        int *level = scheme.levels[scheme.count], above = 0;
        for (int axis = dims - 1, rest = number; axis >= 0; axis--, rest /= scheme.finest) {
            level[axis] = 1 + rest % scheme.finest;
            above += level[axis] > least ? level[axis] - least : 0;
        }
        scheme.places[number] = above <= depth ? scheme.count++ : -1;
    }
    return scheme;
}

/* The place of a level in the scheme; -1: it is outside. */
static inline int place_of(const struct scheme *scheme, const int *level) {
    int number = 0;
    for (int axis = 0; axis < scheme->dims; axis++) {
        if (level[axis] > scheme->finest) return -1;
        number = number * scheme->finest + level[axis] - 1;
    }
    return scheme->places[number];
}

static inline int total_of(const struct scheme *scheme, int place) {
    int total = 0;
    for (int axis = 0; axis < scheme->dims; axis++) total += scheme->levels[place][axis];
    return total;
}

static inline size_t points_of(const struct scheme *scheme, int place) {
    return (size_t)1 << total_of(scheme, place);
}

/* 0: the largest grids of the scheme. A grid on diagonal q has 2^-q as many points. */
static inline int diagonal_of(const struct scheme *scheme, int place) {
    return scheme->depth - (total_of(scheme, place) - scheme->dims * scheme->least);
}

/* Has the classic combination this grid? */
static inline bool is_classic(const struct scheme *scheme, int place) {
    for (int axis = 0; axis < scheme->dims; axis++) {
        if (scheme->levels[place][axis] < scheme->least) return false;
    }
    return diagonal_of(scheme, place) < scheme->dims;
}

/* A corner l + z, z in {0, 1}^d, of a level l. */
struct corner {
    int place;
    int steps; /* bit k: a step along axis k */
    int sign;  /* -1 to the number of steps */
};

/* The corners of a level that are in the set; returns how many. */
static inline int corners_of(const struct scheme *scheme, int place, const unsigned char *is_in,
                             struct corner corners[1 << dims_max]) {
    int count = 0;
    for (int steps = 0; steps < 1 << scheme->dims; steps++) {
        int level[dims_max], sign = 1;
        for (int axis = 0; axis < scheme->dims; axis++) {
            int step = steps >> axis & 1;
            level[axis] = scheme->levels[place][axis] + step;
            if (step) sign = -sign;
        }
        int corner = place_of(scheme, level);
        if (corner >= 0 && is_in[corner]) corners[count++] = (struct corner){corner, steps, sign};
    }
    return count;
}

/* The coefficient of each level, by inclusion and exclusion: the sum of the signs of its corners in the downset. */
static inline void coefficients_of(const struct scheme *scheme, const unsigned char *is_in, int *coefficients) {
    struct corner corners[1 << dims_max];
    for (int place = 0; place < scheme->count; place++) {
        coefficients[place] = 0;
        for (int i = corners_of(scheme, place, is_in, corners) - 1; i >= 0; i--) coefficients[place] += corners[i].sign;
    }
}

#endif
