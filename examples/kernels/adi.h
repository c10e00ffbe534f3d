/*
 * What bt.c and sp.c share: implicit time steps for the Euler equations of a gas in a box, by alternating directions.
 *
 * As in the NAS benchmarks BT and SP, five fields (density, momentum, energy) live on a cubic grid and are driven to a known
 * steady state: the forcing is what the discrete equations leave over when the exact solution is put into them, so that very
 * solution is where they come to rest, and the distance to it is the measure of correctness. A step is
 *
 *     (1 - dt Lx) (1 - dt Ly) (1 - dt Lz) change = dt residual(u),      u = u + change,
 *
 * three sweeps, each over all grid lines of one direction. How one line is solved is what makes the two programs different.
 *
 * Every rank owns a brick of the grid. Lines cross bricks, so a sweep is a pipeline: a rank eliminates its part of a row of
 * lines, hands the last equations to the next brick and goes on with the next row; then back substitution runs the other way.
 */
#ifndef ADI_H
#define ADI_H

#include "kernel.h"

enum { fields = 5, ghosts = 2, axes = 3 };

static const double gas_gamma = 1.4;
static const double viscosity = 0.1;

/* Coefficients of the differences along a line, all multiplied by the time step where a sweep uses them. */
struct stencil {
    double advect;  /* of u(+1) - u(-1) */
    double diffuse; /* of the second difference */
    double smooth;  /* of the fourth difference, which damps what central differences do not see */
};

struct grid {
    MPI_Comm cart;
    int size;               /* points in each direction of the whole grid, without the boundary */
    int parts[axes];        /* bricks in each direction: x, y, z */
    int count[axes];        /* points of this brick */
    int first[axes];        /* of them, in the whole grid */
    int before[axes];       /* ranks of the neighbours, or MPI_PROC_NULL */
    int after[axes];
    ptrdiff_t stride[axes]; /* doubles from a point to the next one */
    size_t doubles;         /* of one array with its ghost points */
    double step;            /* between grid points */
    double time_step;
    struct stencil stencil;
    double *state, *change, *forcing;
    double *work;           /* what forward elimination keeps for back substitution */
    double *incoming, *outgoing;
    MPI_Request *sends;     /* one for each row of a sweep */
    MPI_Datatype inner_face[axes][2], ghost_face[axes][2];
};

/* The part of a grid line that lies in this brick. */
struct line {
    const double *state; /* first own point; ghost points before and behind are valid */
    double *change;
    double *work;
    ptrdiff_t stride;
    int points, axis;
    struct stencil stencil; /* times the time step */
};

/*
 * How a line is solved. `forward` eliminates, given the last equations of the brick before it (zeros at the wall), and writes
 * the ones for the next brick. `backward` finds the solution, given what it is just behind this brick, and overwrites `change`.
 */
struct line_solver {
    int work_doubles; /* for one point */
    int forward_doubles, backward_doubles; /* that cross from brick to brick, for one line */
    void (*forward)(const struct line *line, const double *restrict from_before, double *restrict to_after);
    void (*backward)(const struct line *line, const double *restrict from_after, double *restrict to_before);
};

/* A verified run: the error after so many steps of a grid of this size. */
struct adi_reference {
    int size, steps;
    double error;
};

static inline ptrdiff_t point_offset(const struct grid *grid, int i, int j, int k) {
    return (i + ghosts) * grid->stride[0] + (j + ghosts) * grid->stride[1] + (k + ghosts) * grid->stride[2];
}

static inline double pressure_of(const double *restrict u) {
    return (gas_gamma - 1) * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
}

static inline void exact_state(double x, double y, double z, double u[fields]) {
    double density = 1 + 0.1 * sin(2 * x + y + z);
    double velocity[axes] = {0.3 + 0.1 * cos(x + 2 * y + z), 0.2 + 0.1 * sin(x + y - 2 * z), 0.1 + 0.1 * cos(2 * x - y + z)};
    double pressure = 1 + 0.1 * cos(x - 2 * y + 2 * z);
    double kinetic = 0;
    u[0] = density;
    for (int axis = 0; axis < axes; axis++) {
        u[1 + axis] = density * velocity[axis];
        kinetic += 0.5 * density * velocity[axis] * velocity[axis];
    }
    u[4] = pressure / (gas_gamma - 1) + kinetic;
}

/* The exact solution plus `distance` times a bump that vanishes at the walls. */
static inline void fill_state(struct grid *grid, double *restrict field, double distance) {
    static const double amplitude[fields] = {0.1, 0.06, -0.08, 0.1, 0.2};
    for (int k = -ghosts; k < grid->count[2] + ghosts; k++) {
        double z = (grid->first[2] + k + 1) * grid->step;
        for (int j = -ghosts; j < grid->count[1] + ghosts; j++) {
            double y = (grid->first[1] + j + 1) * grid->step;
            for (int i = -ghosts; i < grid->count[0] + ghosts; i++) {
                double x = (grid->first[0] + i + 1) * grid->step;
                double *u = field + point_offset(grid, i, j, k);
                bool inside = x > 0 && x < 1 && y > 0 && y < 1 && z > 0 && z < 1;
                double bump = inside ? distance * 64 * x * (1 - x) * y * (1 - y) * z * (1 - z) : 0;
                exact_state(x, y, z, u);
                for (int m = 0; m < fields; m++) u[m] += bump * amplitude[m];
            }
        }
    }
}

/* The two outermost own layers of points at one end of an axis, or the ghost layers beyond them. */
static inline MPI_Datatype face_type(const struct grid *grid, int axis, bool upper, bool ghost) {
    int whole[axes + 1], part[axes + 1], start[axes + 1];
    for (int a = 0; a < axes; a++) {
        int place = axes - 1 - a; /* C order: z first */
        whole[place] = grid->count[a] + 2 * ghosts;
        part[place] = a == axis ? ghosts : grid->count[a];
        start[place] = ghosts;
        if (a == axis && upper) start[place] = grid->count[a] + (ghost ? ghosts : 0);
        if (a == axis && !upper && ghost) start[place] = 0;
    }
    whole[axes] = part[axes] = fields;
    start[axes] = 0;
    MPI_Datatype type;
    MPI_Type_create_subarray(axes + 1, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Faces alone: no difference goes along a diagonal, so edges and corners are never read. */
static inline void exchange_faces(struct grid *grid, double *field) {
    MPI_Request requests[4 * axes];
    int count = 0;
    for (int axis = 0; axis < axes; axis++) {
        for (int upper = 0; upper < 2; upper++) {
            int neighbour = upper ? grid->after[axis] : grid->before[axis];
            if (neighbour == MPI_PROC_NULL) continue;
            MPI_Irecv(field, 1, grid->ghost_face[axis][upper], neighbour, 2 * axis + !upper, grid->cart, &requests[count++]);
            MPI_Isend(field, 1, grid->inner_face[axis][upper], neighbour, 2 * axis + upper, grid->cart, &requests[count++]);
        }
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static inline void place_bricks(struct grid *grid, int ranks) {
    int rank, periods[axes] = {0}, coordinates[axes], reversed[axes] = {0};
    MPI_Dims_create(ranks, axes, reversed);
    /* Lines of x are contiguous, so x is the last direction to be cut. */
    for (int axis = 0; axis < axes; axis++) grid->parts[axis] = reversed[axes - 1 - axis];
    MPI_Cart_create(MPI_COMM_WORLD, axes, grid->parts, periods, 0, &grid->cart);
    MPI_Comm_rank(grid->cart, &rank);
    MPI_Cart_coords(grid->cart, rank, axes, coordinates);
    ptrdiff_t stride = fields;
    for (int axis = 0; axis < axes; axis++) {
        grid->count[axis] = share_count(grid->size, grid->parts[axis], coordinates[axis]);
        grid->first[axis] = share_first(grid->size, grid->parts[axis], coordinates[axis]);
        grid->stride[axis] = stride;
        stride *= grid->count[axis] + 2 * ghosts;
        MPI_Cart_shift(grid->cart, axis, 1, &grid->before[axis], &grid->after[axis]);
    }
    grid->doubles = (size_t)stride;
}

static inline int count_max(int a, int b) { return a > b ? a : b; }

static inline void allocate_fields(struct grid *grid, const struct line_solver *solver) {
    int x = grid->count[0], y = grid->count[1], z = grid->count[2];
    size_t face = (size_t)count_max(x * y, count_max(y * z, x * z));
    size_t crossing = face * (size_t)count_max(solver->forward_doubles, solver->backward_doubles);
    grid->state = kernel_doubles(grid->doubles);
    grid->change = kernel_doubles(grid->doubles);
    grid->forcing = kernel_doubles(grid->doubles);
    grid->work = kernel_doubles((size_t)x * y * z * solver->work_doubles);
    grid->incoming = kernel_doubles(crossing);
    grid->outgoing = kernel_doubles(crossing);
    grid->sends = kernel_allocate((size_t)grid->size, sizeof(MPI_Request));
    for (int axis = 0; axis < axes; axis++) {
        for (int upper = 0; upper < 2; upper++) {
            grid->inner_face[axis][upper] = face_type(grid, axis, upper, false);
            grid->ghost_face[axis][upper] = face_type(grid, axis, upper, true);
        }
    }
}

static inline void free_grid(struct grid *grid) {
    for (int axis = 0; axis < axes; axis++) {
        for (int upper = 0; upper < 2; upper++) {
            MPI_Type_free(&grid->inner_face[axis][upper]);
            MPI_Type_free(&grid->ghost_face[axis][upper]);
        }
    }
    MPI_Comm_free(&grid->cart);
    free(grid->state);
    free(grid->change);
    free(grid->forcing);
    free(grid->work);
    free(grid->incoming);
    free(grid->outgoing);
    free(grid->sends);
}

static inline void flux(const double *restrict u, int axis, double f[restrict fields]) {
    double velocity = u[1 + axis] / u[0];
    double pressure = pressure_of(u);
    for (int m = 0; m < fields; m++) f[m] = velocity * u[m];
    f[1 + axis] += pressure;
    f[4] += velocity * pressure;
}

/* Adds what the differences along one line contribute to the residual. */
static inline void line_residual(const double *restrict u, double *restrict residual, ptrdiff_t stride, int points, int axis,
                                 struct stencil stencil) {
    double ring[3][fields]; /* fluxes of the point before, this point, the point behind */
    double *before = ring[0], *here = ring[1], *behind = ring[2];
    flux(u - stride, axis, before);
    flux(u, axis, here);
    for (int i = 0; i < points; i++, u += stride, residual += stride) {
        flux(u + stride, axis, behind);
        for (int m = 0; m < fields; m++) {
            double two = u[m - stride] + u[m + stride];
            double four = u[m - 2 * stride] + u[m + 2 * stride];
            residual[m] += stencil.diffuse * (two - 2 * u[m]) - stencil.advect * (behind[m] - before[m]) -
                           stencil.smooth * (four - 4 * two + 6 * u[m]);
        }
        double *free_row = before;
        before = here;
        here = behind;
        behind = free_row;
    }
}

static inline struct stencil scaled_stencil(struct stencil stencil, double factor) {
    return (struct stencil){stencil.advect * factor, stencil.diffuse * factor, stencil.smooth * factor};
}

/* change += time step * (differences of the state), over all lines of all directions. */
static inline void add_differences(struct grid *grid) {
    struct stencil stencil = scaled_stencil(grid->stencil, grid->time_step);
    for (int axis = 0; axis < axes; axis++) {
        int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
        for (int row = 0; row < grid->count[outer]; row++) {
            for (int number = 0; number < grid->count[inner]; number++) {
                ptrdiff_t start = point_offset(grid, 0, 0, 0) + row * grid->stride[outer] + number * grid->stride[inner];
                line_residual(grid->state + start, grid->change + start, grid->stride[axis], grid->count[axis], axis, stencil);
            }
        }
    }
}

static inline struct line line_of(struct grid *grid, const struct line_solver *solver, int axis, int row, int number) {
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    ptrdiff_t start = point_offset(grid, 0, 0, 0) + row * grid->stride[outer] + number * grid->stride[inner];
    size_t points = (size_t)grid->count[axis];
    return (struct line){
        .state = grid->state + start,
        .change = grid->change + start,
        .work = grid->work + ((size_t)row * grid->count[inner] + number) * points * solver->work_doubles,
        .stride = grid->stride[axis],
        .points = grid->count[axis],
        .axis = axis,
        .stencil = scaled_stencil(grid->stencil, grid->time_step),
    };
}

/* One direction of travel of a sweep. A row's message leaves as soon as the row is done: that is what fills the pipeline. */
static inline void run_pipeline(struct grid *grid, const struct line_solver *solver, int axis, bool is_forward) {
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    int lines = grid->count[inner], rows = grid->count[outer];
    int source = is_forward ? grid->before[axis] : grid->after[axis];
    int target = is_forward ? grid->after[axis] : grid->before[axis];
    int doubles = is_forward ? solver->forward_doubles : solver->backward_doubles;
    size_t row_doubles = (size_t)lines * doubles;
    if (source == MPI_PROC_NULL) memset(grid->incoming, 0, row_doubles * rows * sizeof(double));
    for (int row = 0; row < rows; row++) {
        double *incoming = grid->incoming + row * row_doubles, *outgoing = grid->outgoing + row * row_doubles;
        MPI_Recv(incoming, (int)row_doubles, MPI_DOUBLE, source, row, grid->cart, MPI_STATUS_IGNORE);
        for (int number = 0; number < lines; number++) {
            struct line line = line_of(grid, solver, axis, row, number);
            (is_forward ? solver->forward : solver->backward)(&line, incoming + number * doubles, outgoing + number * doubles);
        }
        MPI_Isend(outgoing, (int)row_doubles, MPI_DOUBLE, target, row, grid->cart, &grid->sends[row]);
    }
    MPI_Waitall(rows, grid->sends, MPI_STATUSES_IGNORE);
}

static inline void add_to(double *restrict sum, const double *restrict term, size_t doubles) {
    for (size_t i = 0; i < doubles; i++) sum[i] += term[i];
}

/* The ghost points never change in `change` and `forcing`: they stay zero, so whole arrays may be added. */
static inline void time_step(struct grid *grid, const struct line_solver *solver) {
    exchange_faces(grid, grid->state);
    memcpy(grid->change, grid->forcing, grid->doubles * sizeof(double));
    add_differences(grid);
    for (int axis = 0; axis < axes; axis++) {
        run_pipeline(grid, solver, axis, true);
        run_pipeline(grid, solver, axis, false);
    }
    add_to(grid->state, grid->change, grid->doubles);
}

/* Root of the mean square of the distance to the exact solution. */
static inline double state_error(struct grid *grid) {
    double mine = 0;
    for (int k = 0; k < grid->count[2]; k++) {
        for (int j = 0; j < grid->count[1]; j++) {
            for (int i = 0; i < grid->count[0]; i++) {
                double exact[fields];
                const double *u = grid->state + point_offset(grid, i, j, k);
                exact_state((grid->first[0] + i + 1) * grid->step, (grid->first[1] + j + 1) * grid->step,
                            (grid->first[2] + k + 1) * grid->step, exact);
                for (int m = 0; m < fields; m++) mine += (u[m] - exact[m]) * (u[m] - exact[m]);
            }
        }
    }
    return sqrt(kernel_reduce(mine, MPI_SUM) / (fields * pow(grid->size, axes)));
}

static inline void set_problem(struct grid *grid) {
    grid->step = 1.0 / (grid->size + 1);
    grid->time_step = 1.2 * grid->step;
    grid->stencil = (struct stencil){0.5 / grid->step, viscosity / (grid->step * grid->step), 0.01 / grid->step};
    fill_state(grid, grid->state, 0);
    add_differences(grid);
    for (size_t i = 0; i < grid->doubles; i++) grid->forcing[i] = -grid->change[i];
    fill_state(grid, grid->state, 1);
}

/* Known runs are held to their digits. In any other one the slowest wave must have died away at more than half its rate. */
static inline struct verdict judge_error(const struct grid *grid, int steps, double first, double last,
                                         const struct adi_reference *references, int count) {
    for (int i = 0; i < count; i++) {
        if (references[i].size != grid->size || references[i].steps != steps) continue;
        double reference = references[i].error;
        return (struct verdict){last, reference, fabs(last - reference) <= 1e-8 * reference};
    }
    double bound = fmax(first * exp(-3 * grid->step * steps), 1e-12);
    return (struct verdict){last, bound, last <= bound};
}

static inline int adi_main(struct kernel *kernel, const char *title, const struct line_solver *solver,
                           const struct adi_reference *references, int reference_count, int size, int steps) {
    struct grid grid = {.size = size};
    place_bricks(&grid, kernel->ranks);
    for (int axis = 0; axis < axes; axis++) {
        if (size / grid.parts[axis] < ghosts) kernel_refuse(kernel, "cannot cut %d points into %d bricks", size, grid.parts[axis]);
    }
    allocate_fields(&grid, solver);
    set_problem(&grid);
    double first = state_error(&grid);
    double start = kernel_clock();
    for (int step = 0; step < steps; step++) time_step(&grid, solver);
    double seconds = kernel_clock() - start;
    double last = state_error(&grid);

    kernel_title(kernel, title);
    kernel_line(kernel, "size", "%d x %d x %d points, %d steps", size, size, size, steps);
    kernel_line(kernel, "ranks", "%d (%d x %d x %d bricks)", kernel->ranks, grid.parts[0], grid.parts[1], grid.parts[2]);
    kernel_line(kernel, "time", "%.3f s", seconds);
    kernel_line(kernel, "rate", "%.3f million points/s", pow(size, axes) * steps / seconds * 1e-6);
    kernel_line(kernel, "error", "%.3e at the start, %.3e at the end", first, last);
    struct verdict verdict = judge_error(&grid, steps, first, last, references, reference_count);
    free_grid(&grid);
    return kernel_finish(kernel, verdict);
}

#endif
