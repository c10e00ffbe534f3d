/* The combined solution: on the points of the full grid, where it can be compared with the full grid's own solution. */
#ifndef COMBINED_H
#define COMBINED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "room.h"

/*
 * More points along one axis, multilinear between those that are there. behind: points of all axes that follow, which have not been
 * refined; those before have.
 */
static inline double *refined(const double *values, size_t size, size_t points, size_t behind, size_t factor) {
    double *result = room(size * factor, sizeof *result), *to = result;
    for (size_t line = 0; line < size; line += points * behind) {
        for (size_t i = 0; i < points; i++) {
            const double *left = values + line + i * behind;
            const double *right = i + 1 < points ? left + behind : values + line;
            for (size_t step = 0; step < factor; step++) {
                double share = (double)step / (double)factor;
                for (size_t j = 0; j < behind; j++) *to++ = (1 - share) * left[j] + share * right[j];
            }
        }
    }
    return result;
}

/* Adds a grid's values, times a coefficient, at all points of the full grid. */
static inline void add(double *into, int coefficient, const double *values, int dims, const int *level, int finest) {
    double *last = NULL;
    size_t size = 1;
    for (int axis = 0; axis < dims; axis++) size <<= level[axis];
    for (size_t axis = 0, behind = size; axis < (size_t)dims; axis++) {
        size_t factor = (size_t)1 << (finest - level[axis]);
        behind >>= level[axis];
        double *next = refined(last == NULL ? values : last, size, (size_t)1 << level[axis], behind, factor);
        size *= factor;
        free(last);
        last = next;
    }
    for (size_t i = 0; i < size; i++) into[i] += coefficient * last[i];
    free(last);
}

/* The root of the mean square. */
static inline double distance(const double *a, const double *b, size_t size) {
    double sum = 0;
    for (size_t i = 0; i < size; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / (double)size);
}

/* A sum over the bits of all values: two solutions with the same sum are the same. */
static inline uint32_t bits_of(const double *values, size_t size) {
    uint32_t sum = 0x811c9dc5;
    for (size_t i = 0; i < size; i++) {
        uint32_t words[2];
        memcpy(words, &values[i], sizeof words);
        for (int word = 0; word < 2; word++) sum = (sum ^ words[word]) * 0x01000193;
    }
    return sum;
}

#endif
