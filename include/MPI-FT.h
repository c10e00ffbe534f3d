/*
 * The fault-simulation layer under the names of J. Walter's thesis (2016): for programs that were written for it. They run under
 * `banyan run --fault-layer`; docs/fault-layer.md says more.
 */
#ifndef BANYAN_MPI_FT_H
#define BANYAN_MPI_FT_H

#include <mpi.h>
#include <mpi-ext.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The simulated detection time in milliseconds: so long nobody hears of a death. */
#ifndef SIM_FT_TIMEOUT
#define SIM_FT_TIMEOUT 0
#endif

/* This process is dead to the program from now on. Does not return. */
static inline void Sim_FT_kill_me(void) {
    if (SIM_FT_TIMEOUT > 0) usleep(1000u * SIM_FT_TIMEOUT);
    MPIX_Simulated_death();
}

/*
 * Dies with a probability that grows with the time since the process was asked last: p within so many seconds, whoever asks how often (5.1). Give each
 * process a sequence of its own with srand.
 */
static inline void Sim_FT_kill_me_within(double p, double seconds) {
    static double last = -1;
    const double now = MPI_Wtime(), passed = last < 0 ? 0 : now - last;
    last = now;
    if (rand() / (RAND_MAX + 1.0) < 1 - pow(1 - p, passed / seconds)) Sim_FT_kill_me();
}

/*
 * Conditions under which a process dies, asked wherever the program calls it. Define SIM_FT_CONDITION, an expression, before this file is
 * included; or SIM_FT_PROBABILITY and SIM_FT_PERIOD, in seconds, for one that grows with time. Without them nobody dies.
 */
static inline void Sim_FT_decide_kill(void) {
#ifdef SIM_FT_CONDITION
    if (SIM_FT_CONDITION) Sim_FT_kill_me();
#endif
#ifdef SIM_FT_PROBABILITY
    Sim_FT_kill_me_within(SIM_FT_PROBABILITY, SIM_FT_PERIOD);
#endif
}

/*
 * Flips every bit of an array with probability p, each for itself, and gives the number of flips. Distances between flips are drawn from the
 * geometric distribution, so that the number of flips has the binomial one.
 */
static inline int Sim_FT_Manipulate_bits(int *array, int size, double p) {
    const double bits = 8.0 * (double)sizeof(int) * size;
    const double scale = p < 1 ? log1p(-p) : -INFINITY;
    double bit = -1;
    int flips = 0;
    if (p <= 0) return 0;
    for (;;) {
        const double unit = (rand() + 0.5) / (RAND_MAX + 1.0);
        bit += 1 + floor(log(unit) / scale);
        if (bit >= bits) return flips;
        ((unsigned char *)array)[(size_t)(bit / 8)] ^= (unsigned char)(1u << ((size_t)bit % 8));
        flips++;
    }
}

#endif
