/*
 * A hill of heat that melts in a cold box, solved on many coarse grids at once and combined; grids that are lost with their
 * processes are replaced (docs/combination.md).
 *
 *   banyan run -n 9 examples/combination/heat.c dims=3
 *   banyan run -n 9 --nodes 9 --protocol ulfm --faults "kill node 3 at call 200" examples/combination/heat.c learn=watch
 */
#include "program.h"

static const double pi = 3.141592653589793;
static const double end_time = 1.0 / 64;

static int steps(int finest) {
    return (1 << 2 * finest) / 16;
}

/* The explicit scheme: second order in space. */
static struct stencil stencil(int axis, int points, int steps) {
    (void)axis;
    double share = end_time * points * points / steps;
    return (struct stencil){share, 1 - 2 * share, share};
}

static double start(int axis, double x) {
    (void)axis;
    return sine(x / 2) + 0.5 * sine(x);
}

/* Every wave melts at a rate of its own. */
static double exact(int axis, double x) {
    (void)axis;
    return exp(-pi * pi * end_time) * sine(x / 2) + 0.5 * exp(-4 * pi * pi * end_time) * sine(x);
}

/* du/dt = laplace u */
int main(int argc, char **argv) {
    struct problem heat = {"heat", true, steps, stencil, start, exact};
    return run_combination(argc, argv, &heat);
}
