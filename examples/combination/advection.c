/*
 * A hill that the wind carries round a torus, solved on many coarse grids at once and combined; grids that are lost with their
 * processes are replaced (docs/combination.md).
 *
 *   banyan run -n 9 examples/combination/advection.c dims=3
 *   banyan run -n 9 --nodes 9 --protocol ulfm --faults "kill node 3 at call 200" examples/combination/advection.c
 */
#include "program.h"

static const double end_time = 0.5;
static const double speeds[] = {1, 0.5, 0.75, 0.25};

static double hill(double x) {
    double height = 0.5 + 0.5 * sine(x);
    return height * height;
}

static int steps(int finest) {
    return 1 << finest;
}

/* The scheme of Lax and Wendroff: second order in space and time. */
static struct stencil stencil(int axis, int points, int steps) {
    double courant = speeds[axis] * end_time * points / steps;
    return (struct stencil){courant * (courant + 1) / 2, 1 - courant * courant, courant * (courant - 1) / 2};
}

static double start(int axis, double x) {
    (void)axis;
    return hill(x);
}

static double exact(int axis, double x) {
    return hill(x - speeds[axis] * end_time);
}

/* du/dt + v grad u = 0 */
int main(int argc, char **argv) {
    struct problem advection = {"advection", false, steps, stencil, start, exact};
    return run_combination(argc, argv, &advection);
}
