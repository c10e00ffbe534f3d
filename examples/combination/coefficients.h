/*
 * The general coefficient problem: the best combination of the grids that can be had.
 *
 * A lost grid must have the coefficient zero. Of all downsets of the scheme with that property the one is wanted that has the
 * largest worth, the sum of 4^-|l|_1 over its levels: the hierarchical surplus of level l is bounded by that for a solution with
 * bounded mixed second derivatives, so what is left out of the sum costs least (Harding and Hegland, 2013).
 *
 * Solved exactly, best first. Begin with the whole scheme. If a set gives a grid that cannot be had a coefficient, every better
 * answer below lacks at least one of the corners l + z that the coefficient counts, and, being a downset, everything above that
 * corner: one branch for each of the highest corners. No set is worth more than one it was cut from, so the first set that is
 * taken out and needs nothing lost is the best there is. Branching depends on the lost grids alone: few losses make few branches.
 */
#ifndef COEFFICIENTS_H
#define COEFFICIENTS_H

#include "scheme.h"

struct candidate {
    unsigned char *is_in; /* by place */
    double worth;         /* a whole number: 4 to the number of the diagonal, of each level */
    bool is_taken;
};

/* All sets that have been thought of, in that order. */
struct candidates {
    struct candidate *list;
    int count, size;
};

/* Puts a copy of the set in, unless it has been there before. */
static inline void consider(struct candidates *all, const struct scheme *scheme, const unsigned char *is_in) {
    size_t bytes = (size_t)scheme->count;
    for (int i = 0; i < all->count; i++) {
        if (memcmp(all->list[i].is_in, is_in, bytes) == 0) return;
    }
    if (all->count == all->size) {
        struct candidate *old = all->list;
        all->size = 2 * all->size + 16;
        all->list = room((size_t)all->size, sizeof *all->list);
        if (old != NULL) memcpy(all->list, old, (size_t)all->count * sizeof *old);
        free(old);
    }
    struct candidate *candidate = &all->list[all->count++];
    candidate->is_in = room(bytes, 1);
    memcpy(candidate->is_in, is_in, bytes);
    for (int place = 0; place < scheme->count; place++) {
        if (is_in[place]) candidate->worth += (double)(1ULL << 2 * diagonal_of(scheme, place));
    }
}

/* Of sets of the same worth the one that was put in first. */
static inline const unsigned char *take_best(struct candidates *all) {
    struct candidate *best = NULL;
    for (int i = 0; i < all->count; i++) {
        struct candidate *candidate = &all->list[i];
        if (!candidate->is_taken && (best == NULL || candidate->worth > best->worth)) best = candidate;
    }
    best->is_taken = true;
    return best->is_in;
}

/* Those of the corners that no other one is above; returns how many, and their places. */
static inline int highest(const struct corner *corners, int count, int *places) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        bool is_highest = true;
        for (int j = 0; j < count && is_highest; j++) {
            is_highest = i == j || (corners[j].steps & corners[i].steps) != corners[i].steps;
        }
        if (is_highest) places[found++] = corners[i].place;
    }
    return found;
}

/*
 * The highest corners of a level that has a coefficient and is not available, of which one has to go: of the level that has
 * fewest. Returns how many; 0: there is no such level.
 */
static inline int fewest_cuts(const struct scheme *scheme, const unsigned char *is_in, const int *coefficients,
                              const bool *is_available, int cuts[1 << dims_max]) {
    int fewest = 0;
    for (int place = 0; place < scheme->count; place++) {
        struct corner corners[1 << dims_max];
        int places[1 << dims_max];
        if (coefficients[place] == 0 || is_available[place]) continue;
        int count = highest(corners, corners_of(scheme, place, is_in, corners), places);
        if (fewest == 0 || count < fewest) {
            fewest = count;
            memcpy(cuts, places, (size_t)count * sizeof *cuts);
        }
    }
    return fewest;
}

/* The set without a level and everything above it. */
static inline void cut(const struct scheme *scheme, const unsigned char *is_in, int corner, unsigned char *smaller) {
    for (int place = 0; place < scheme->count; place++) {
        bool is_above = true;
        for (int axis = 0; axis < scheme->dims; axis++) {
            is_above = is_above && scheme->levels[place][axis] >= scheme->levels[corner][axis];
        }
        smaller[place] = is_in[place] && !is_above;
    }
}

/* The coefficients of the best downset that needs only grids that are available. All are zero if there is none. */
static inline void best_coefficients(const struct scheme *scheme, const bool *is_available, int *coefficients) {
    struct candidates all = {0};
    unsigned char *smaller = room((size_t)scheme->count, 1);
    int cuts[1 << dims_max];
    memset(smaller, 1, (size_t)scheme->count);
    consider(&all, scheme, smaller);
    for (;;) {
        const unsigned char *is_in = take_best(&all);
        coefficients_of(scheme, is_in, coefficients);
        int count = fewest_cuts(scheme, is_in, coefficients, is_available, cuts);
        if (count == 0) break;
        for (int i = 0; i < count; i++) {
            cut(scheme, is_in, cuts[i], smaller);
            consider(&all, scheme, smaller);
        }
    }
    for (int i = 0; i < all.count; i++) free(all.list[i].is_in);
    free(all.list);
    free(smaller);
}

#endif
