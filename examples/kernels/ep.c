/*
 * EP, "embarrassingly parallel": pairs of Gaussian random numbers by the polar method, counted by the square ring around
 * the origin that they fall into. The ranks meet once, at the end, so this is what the processors can do without a network.
 *
 *     banyan run -n 4 examples/kernels/ep.c A        any number of ranks
 */
#include "npb.h"

enum { RINGS = 10, BATCH_PAIRS = 1 << 12 };

typedef struct {
    int pairs_log2;
    double sum_x, sum_y;
} problem;

static const problem problems[] = {
    {24, -3.247834652034740e3, -6.958407078382297e3},
    {25, -2.863319731645753e3, -6.320053679109499e3},
    {28, -4.295875165629892e3, -1.580732573678431e4},
};

/* Doubles throughout, so that one reduction takes all of it. */
typedef struct {
    double sum_x, sum_y;
    double ring[RINGS];
} tally;

static void count_pairs(const double *restrict uniform, tally *restrict t) {
    double sum_x = 0, sum_y = 0;
    for (int i = 0; i < BATCH_PAIRS; i++) {
        double x = 2 * uniform[2 * i] - 1, y = 2 * uniform[2 * i + 1] - 1;
        double square = x * x + y * y;
        if (square > 1) continue;
        double factor = sqrt(-2 * log(square) / square);
        double gauss_x = x * factor, gauss_y = y * factor;
        t->ring[(int)fmax(fabs(gauss_x), fabs(gauss_y))]++;
        sum_x += gauss_x;
        sum_y += gauss_y;
    }
    t->sum_x += sum_x;
    t->sum_y += sum_y;
}

/* Each rank has a run of consecutive batches, and so a piece of the sequence that it enters once. */
static tally count_batches(int64_t first, int64_t end) {
    static double uniform[2 * BATCH_PAIRS];
    tally t = {0};
    uint64_t state = npb_random_skip(UINT64_C(271828183), (uint64_t)first * 2 * BATCH_PAIRS);
    for (int64_t batch = first; batch < end; batch++) {
        npb_random_fill(&state, 2 * BATCH_PAIRS, uniform);
        count_pairs(uniform, &t);
    }
    return t;
}

int main(int argc, char **argv) {
    npb_run run = npb_start(&argc, &argv, "EP");
    const problem *p = &problems[run.problem];
    int64_t batches = (INT64_C(1) << p->pairs_log2) / BATCH_PAIRS;

    double start = npb_clock_start();
    tally mine = count_batches(batches * run.rank / run.ranks, batches * (run.rank + 1) / run.ranks), all;
    MPI_Allreduce(&mine, &all, sizeof all / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;

    double pairs = 0;
    for (int i = 0; i < RINGS; i++) pairs += all.ring[i];
    npb_check checks[] = {{"sum of x", all.sum_x, p->sum_x}, {"sum of y", all.sum_y, p->sum_y}};
    npb_result result = {.iterations = 1,
                         .seconds = seconds,
                         .operations = ldexp(1, p->pairs_log2 + 1),
                         .epsilon = 1e-8,
                         .check_count = 2,
                         .checks = checks};
    snprintf(result.size, sizeof result.size, "2^%d numbers", p->pairs_log2 + 1);
    snprintf(result.detail, sizeof result.detail, "Gaussian pairs: %.0f", pairs);
    return npb_finish(&run, &result);
}
