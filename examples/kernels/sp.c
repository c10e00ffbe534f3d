/*
 * Scalar-pentadiagonal solver: in a sweep the five fields of a point are first turned into the waves that travel along the
 * line (carried by the flow, or faster or slower than it by the speed of sound), which do not know of each other. So a line is
 * five separate systems with five diagonals, the outer ones from the fourth difference. The equations, the grid and the
 * pipeline over the ranks are in adi.h.
 *
 *     banyan run -n 4 examples/kernels/sp.c [size] [steps]
 *
 * After NAS benchmark SP. Pulliam and Chaussee, A diagonal form of an implicit approximate-factorization algorithm, 1981.
 */
#include "adi.h"

/* Three of the five waves travel with the flow and share one matrix, so there are three matrices. */
enum { speeds = 3, factors = 2 * speeds, crossing_row = factors + fields };

static const int speed_of_wave[fields] = {0, 0, 0, 1, 2};

struct gas {
    double density, sound;
    double velocity[axes];
    double kinetic; /* of a unit of mass */
    double speed[speeds];
};

static inline struct gas gas_at(const double *restrict u, int axis) {
    double inverse = 1 / u[0];
    struct gas gas = {.density = u[0], .velocity = {u[1] * inverse, u[2] * inverse, u[3] * inverse}};
    const double *v = gas.velocity;
    gas.kinetic = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    gas.sound = sqrt(gas_gamma * (gas_gamma - 1) * (u[4] * inverse - gas.kinetic));
    gas.speed[0] = v[axis];
    gas.speed[1] = v[axis] + gas.sound;
    gas.speed[2] = v[axis] - gas.sound;
    return gas;
}

/* From changes of the conserved fields to strengths of waves: entropy, two shears, the two sound waves. */
static inline void waves_of_change(const struct gas *gas, int axis, const double *restrict change, double wave[fields]) {
    const double *v = gas->velocity;
    double inverse = 1 / gas->density, sound = gas->sound;
    double velocity[axes];
    for (int a = 0; a < axes; a++) velocity[a] = (change[1 + a] - v[a] * change[0]) * inverse;
    double work = v[0] * change[1] + v[1] * change[2] + v[2] * change[3];
    double pressure = (gas_gamma - 1) * (gas->kinetic * change[0] - work + change[4]);
    double compression = 0.5 * pressure * inverse / (sound * sound), normal = 0.5 * velocity[axis] / sound;
    wave[0] = change[0] - pressure / (sound * sound);
    wave[1] = velocity[(axis + 1) % axes];
    wave[2] = velocity[(axis + 2) % axes];
    wave[3] = compression + normal;
    wave[4] = compression - normal;
}

static inline void change_of_waves(const struct gas *gas, int axis, const double wave[fields], double *restrict change) {
    const double *v = gas->velocity;
    double density = gas->density, sound = gas->sound, compression = wave[3] + wave[4];
    double velocity[axes];
    velocity[axis] = sound * (wave[3] - wave[4]);
    velocity[(axis + 1) % axes] = wave[1];
    velocity[(axis + 2) % axes] = wave[2];
    double mass = wave[0] + density * compression, work = 0;
    change[0] = mass;
    for (int a = 0; a < axes; a++) {
        change[1 + a] = v[a] * mass + density * velocity[a];
        work += v[a] * velocity[a];
    }
    change[4] = density * sound * sound * compression / (gas_gamma - 1) + gas->kinetic * mass + density * work;
}

/*
 * An eliminated equation reads x + factors[2s] * (x of the next point) + factors[2s + 1] * (x of the one behind it) = wave,
 * with s the speed of the wave. It travels to the next brick as such a row.
 */
struct equation {
    double factors[factors];
    double wave[fields];
};

/* The equations of the two points before are what a pentadiagonal elimination needs. */
static inline struct equation eliminate_point(const struct equation *second, const struct equation *first,
                                              const struct gas *before, const struct gas *behind, const double wave[fields],
                                              struct stencil stencil) {
    struct equation out;
    double to_first[speeds], inverse[speeds];
    double outer = stencil.smooth, inner = -stencil.diffuse - 4 * stencil.smooth;
    double diagonal = 1 + 2 * stencil.diffuse + 6 * stencil.smooth;
    for (int s = 0; s < speeds; s++) {
        to_first[s] = inner - stencil.advect * before->speed[s] - outer * second->factors[2 * s];
        inverse[s] = 1 / (diagonal - outer * second->factors[2 * s + 1] - to_first[s] * first->factors[2 * s]);
        out.factors[2 * s] = (inner + stencil.advect * behind->speed[s] - to_first[s] * first->factors[2 * s + 1]) * inverse[s];
        out.factors[2 * s + 1] = outer * inverse[s];
    }
    for (int m = 0; m < fields; m++) {
        int s = speed_of_wave[m];
        out.wave[m] = (wave[m] - outer * second->wave[m] - to_first[s] * first->wave[m]) * inverse[s];
    }
    return out;
}

static void forward(const struct line *line, const double *restrict from_before, double *restrict to_after) {
    struct equation second, first;
    memcpy(&second, from_before, sizeof second);
    memcpy(&first, from_before + crossing_row, sizeof first);
    const double *restrict state = line->state;
    double *restrict change = line->change;
    double *restrict work = line->work;
    struct gas before = gas_at(state - line->stride, line->axis), here = gas_at(state, line->axis);
    for (int i = 0; i < line->points; i++) {
        double wave[fields];
        struct gas behind = gas_at(state + line->stride, line->axis);
        waves_of_change(&here, line->axis, change, wave);
        struct equation equation = eliminate_point(&second, &first, &before, &behind, wave, line->stencil);
        for (int m = 0; m < fields; m++) change[m] = equation.wave[m];
        for (int m = 0; m < factors; m++) work[m] = equation.factors[m];
        state += line->stride;
        change += line->stride;
        work += factors;
        second = first;
        first = equation;
        before = here;
        here = behind;
    }
    memcpy(to_after, &second, sizeof second);
    memcpy(to_after + crossing_row, &first, sizeof first);
}

static void backward(const struct line *line, const double *restrict from_after, double *restrict to_before) {
    double next[fields], second[fields], wave[fields];
    memcpy(next, from_after, sizeof next);
    memcpy(second, from_after + fields, sizeof second);
    for (int i = line->points - 1; i >= 0; i--) {
        const double *restrict work = line->work + (size_t)i * factors;
        double *restrict change = line->change + i * line->stride;
        for (int m = 0; m < fields; m++) {
            int s = speed_of_wave[m];
            wave[m] = change[m] - work[2 * s] * next[m] - work[2 * s + 1] * second[m];
        }
        struct gas gas = gas_at(line->state + i * line->stride, line->axis);
        change_of_waves(&gas, line->axis, wave, change);
        memcpy(second, next, sizeof second);
        memcpy(next, wave, sizeof next);
    }
    memcpy(to_before, next, sizeof next);
    memcpy(to_before + fields, second, sizeof second);
}

static const struct line_solver scalar_pentadiagonal = {
    .work_doubles = factors,
    .forward_doubles = 2 * crossing_row,
    .backward_doubles = 2 * fields,
    .forward = forward,
    .backward = backward,
};

static const struct adi_reference references[] = {
    {12, 10, 2.0221258059479e-03},
    {24, 20, 1.0019680009840e-03},
    {48, 60, 1.0674597053197e-04},
    {64, 40, 1.8664713889037e-03},
};

int main(int argc, char **argv) {
    struct kernel kernel = kernel_start(&argc, &argv, "sp", "[size] [steps]");
    kernel_arguments_max(&kernel, 2);
    int size = kernel_option(&kernel, (struct option){1, "size", 48, 4, 512});
    int steps = kernel_option(&kernel, (struct option){2, "steps", 60, 1, 100000});
    return adi_main(&kernel, "scalar-pentadiagonal solver, alternating directions", &scalar_pentadiagonal, references,
                    sizeof references / sizeof references[0], size, steps);
}
