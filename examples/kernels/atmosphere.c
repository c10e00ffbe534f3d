/*
 * Trace gases in an atmosphere: four fields on a grid of levels x longitude x latitude are carried by a steady wind that is
 * stronger higher up, spread sideways by diffusion and mixed upwards by an implicit solve in each column. The world is a torus.
 *
 *     banyan run -n 4 examples/kernels/atmosphere.c [nx] [ny] [levels] [steps]
 *
 * The horizontal grid is cut into tiles, one for each rank. Borders travel as one message for each field and side, and a rank
 * takes whatever comes (MPI_ANY_SOURCE, MPI_ANY_TAG): who sent it and its tag tell what it is. A neighbour may already be one
 * step ahead, so a border may come before it is wanted.
 *
 * Fluxes leave one cell and enter the next, so the mass of each field stays what it was; and each cell's arithmetic does not
 * depend on the tiles, so the first steps, done again by one rank alone, must give the same bits.
 */
#include "kernel.h"

enum { tracers = 4, halo = 2, sides = 4, steps_repeated_max = 4 };
enum side { west, east, south, north };

static const double courant_max = 0.2;      /* fraction of a cell that the wind crosses in a step */
static const double diffusion = 0.01;       /* exchange with a neighbouring cell in a step */
static const double vertical_mixing = 0.05; /* the same between levels */
static const double mass_error_max = 1e-12;

struct sizes {
    int nx, ny, levels;
};

/* A border that came before its step. */
struct early {
    double *data;
    bool is_here;
};

struct model {
    MPI_Comm cart;
    struct sizes whole;
    int columns, rows;         /* of the own tile */
    int first_column, first_row;
    int parts[2];              /* tiles in x and y */
    int neighbour[sides];
    size_t row_doubles;        /* of a row of columns with its halo */
    double *now[tracers], *next[tracers];
    double *wind_x, *wind_y;   /* Courant number through each column's western and southern face */
    double *shear;             /* factor of the wind in each level */
    double *inverse;           /* of the vertical solve's diagonal, after elimination */
    double *flux_x[2], *flux_y[2];
    double *arrived;           /* a border that nobody has looked at yet */
    struct early early[tracers][sides];
    MPI_Datatype strip[2];     /* halo cells along a western or eastern, southern or northern border */
};

static size_t column_at(const struct model *model, int x, int y) {
    return (size_t)(y + halo) * model->row_doubles + (size_t)(x + halo) * model->whole.levels;
}

static int strip_doubles(const struct model *model, int side) {
    return halo * model->whole.levels * (side < south ? model->rows : model->columns);
}

static void place_tiles(struct model *model, MPI_Comm comm, struct sizes whole) {
    int ranks, rank, periodic[2] = {1, 1}, place[2];
    MPI_Comm_size(comm, &ranks);
    model->whole = whole;
    model->parts[0] = model->parts[1] = 0;
    MPI_Dims_create(ranks, 2, model->parts);
    MPI_Cart_create(comm, 2, model->parts, periodic, 0, &model->cart);
    MPI_Comm_rank(model->cart, &rank);
    MPI_Cart_coords(model->cart, rank, 2, place);
    MPI_Cart_shift(model->cart, 0, 1, &model->neighbour[west], &model->neighbour[east]);
    MPI_Cart_shift(model->cart, 1, 1, &model->neighbour[south], &model->neighbour[north]);
    model->columns = share_count(whole.nx, model->parts[0], place[0]);
    model->first_column = share_first(whole.nx, model->parts[0], place[0]);
    model->rows = share_count(whole.ny, model->parts[1], place[1]);
    model->first_row = share_first(whole.ny, model->parts[1], place[1]);
    model->row_doubles = (size_t)(model->columns + 2 * halo) * whole.levels;
}

static void allocate_model(struct model *model) {
    size_t levels = (size_t)model->whole.levels, doubles = model->row_doubles * (size_t)(model->rows + 2 * halo);
    int longest = strip_doubles(model, west) > strip_doubles(model, south) ? west : south;
    for (int tracer = 0; tracer < tracers; tracer++) {
        model->now[tracer] = kernel_doubles(doubles);
        model->next[tracer] = kernel_doubles(doubles);
        for (int side = 0; side < sides; side++) {
            model->early[tracer][side].data = kernel_doubles((size_t)strip_doubles(model, longest));
        }
    }
    model->arrived = kernel_doubles((size_t)strip_doubles(model, longest));
    model->wind_x = kernel_doubles((size_t)(model->columns + 1) * model->rows);
    model->wind_y = kernel_doubles((size_t)model->columns * (model->rows + 1));
    model->shear = kernel_doubles(levels);
    model->inverse = kernel_doubles(levels);
    for (int i = 0; i < 2; i++) {
        model->flux_x[i] = kernel_doubles(levels);
        model->flux_y[i] = kernel_doubles(levels * (size_t)model->columns);
    }
    int stride = (int)model->row_doubles;
    MPI_Type_vector(model->rows, halo * (int)levels, stride, MPI_DOUBLE, &model->strip[0]);
    MPI_Type_vector(halo, model->columns * (int)levels, stride, MPI_DOUBLE, &model->strip[1]);
    MPI_Type_commit(&model->strip[0]);
    MPI_Type_commit(&model->strip[1]);
}

static void free_model(struct model *model) {
    for (int tracer = 0; tracer < tracers; tracer++) {
        free(model->now[tracer]);
        free(model->next[tracer]);
        for (int side = 0; side < sides; side++) free(model->early[tracer][side].data);
    }
    for (int i = 0; i < 2; i++) {
        free(model->flux_x[i]);
        free(model->flux_y[i]);
        MPI_Type_free(&model->strip[i]);
    }
    free(model->arrived);
    free(model->wind_x);
    free(model->wind_y);
    free(model->shear);
    free(model->inverse);
    MPI_Comm_free(&model->cart);
}

/* Stream function at a corner of cells. Winds that are its differences neither pile up air nor leave a hole. */
static double stream(const struct model *model, int x, int y) {
    double turn = 2 * acos(-1), u = turn * x / model->whole.nx, v = turn * y / model->whole.ny;
    return sin(u) * cos(v) + 0.5 * sin(2 * u + v);
}

static void set_wind(struct model *model) {
    double scale_x = 0.25 * courant_max * model->whole.ny / acos(-1), scale_y = 0.25 * courant_max * model->whole.nx / acos(-1);
    double scale = 0.5 * fmin(scale_x, scale_y);
    for (int j = 0; j < model->rows; j++) {
        for (int i = 0; i <= model->columns; i++) {
            int x = model->first_column + i, y = model->first_row + j;
            double swirl = scale * (stream(model, x, y + 1) - stream(model, x, y));
            model->wind_x[(size_t)j * (model->columns + 1) + i] = 0.5 * courant_max + swirl;
        }
    }
    for (int j = 0; j <= model->rows; j++) {
        for (int i = 0; i < model->columns; i++) {
            int x = model->first_column + i, y = model->first_row + j;
            model->wind_y[(size_t)j * model->columns + i] = -scale * (stream(model, x + 1, y) - stream(model, x, y));
        }
    }
}

/* The wind grows with height. The vertical solve is the same in all columns, so its diagonal is eliminated once. */
static void set_levels(struct model *model) {
    int levels = model->whole.levels;
    double eliminated = 0;
    for (int level = 0; level < levels; level++) {
        int neighbours = (level > 0) + (level + 1 < levels);
        model->shear[level] = 0.3 + 0.7 * (level + 0.5) / levels;
        model->inverse[level] = 1 / (1 + vertical_mixing * neighbours - vertical_mixing * eliminated);
        eliminated = vertical_mixing * model->inverse[level];
    }
}

/* A cloud for each field, at a place and height of its own, on a thin background. */
static double cloud(const struct model *model, int tracer, int x, int y, int level) {
    double u = (double)x / model->whole.nx - 0.2 * (tracer + 1), v = (double)y / model->whole.ny - 0.5 + 0.1 * tracer;
    double w = (level + 0.5) / model->whole.levels - 0.25 * tracer;
    u -= round(u); /* the shortest way around the torus */
    v -= round(v);
    double distance = 16 * (u * u + v * v) + w * w;
    return 0.01 + (distance < 1 ? (1 - distance) * (1 - distance) : 0);
}

static void set_tracers(struct model *model) {
    for (int tracer = 0; tracer < tracers; tracer++) {
        for (int j = 0; j < model->rows; j++) {
            for (int i = 0; i < model->columns; i++) {
                double *column = model->now[tracer] + column_at(model, i, j);
                for (int level = 0; level < model->whole.levels; level++) {
                    column[level] = cloud(model, tracer, model->first_column + i, model->first_row + j, level);
                }
            }
        }
    }
}

static struct model make_model(MPI_Comm comm, struct sizes whole) {
    struct model model;
    memset(&model, 0, sizeof model);
    place_tiles(&model, comm, whole);
    allocate_model(&model);
    set_wind(&model);
    set_levels(&model);
    set_tracers(&model);
    return model;
}

/* A tag names the field, the receiver's side, and whether the step is even. */
static int border_tag(int step, int tracer, int side) { return (step % 2 * tracers + tracer) * sides + side; }

static void send_borders(struct model *model, int step, MPI_Request *requests) {
    for (int tracer = 0; tracer < tracers; tracer++) {
        const double *field = model->now[tracer];
        const double *start[sides] = {
            field + column_at(model, 0, 0),
            field + column_at(model, model->columns - halo, 0),
            field + column_at(model, 0, 0),
            field + column_at(model, 0, model->rows - halo),
        };
        for (int side = 0; side < sides; side++) {
            int opposite = side ^ 1; /* what is west of me has me in its east */
            MPI_Isend(start[side], 1, model->strip[side / 2], model->neighbour[side], border_tag(step, tracer, opposite),
                      model->cart, requests++);
        }
    }
}

static void place_border(struct model *model, int tracer, int side, const double *restrict border) {
    int x = side == west ? -halo : side == east ? model->columns : 0;
    int y = side == south ? -halo : side == north ? model->rows : 0;
    int lines = side < south ? model->rows : halo;
    size_t doubles = (size_t)strip_doubles(model, side) / (size_t)lines;
    for (int line = 0; line < lines; line++) {
        memcpy(model->now[tracer] + column_at(model, x, y + line), border + line * doubles, doubles * sizeof(double));
    }
}

/* Receives any border; one of the next step is kept for it. Returns whether it was one of this step. */
static bool receive_border(struct model *model, int step) {
    MPI_Status status;
    int longest = strip_doubles(model, west) > strip_doubles(model, south) ? west : south, count;
    MPI_Recv(model->arrived, strip_doubles(model, longest), MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, model->cart, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    int side = status.MPI_TAG % sides, tracer = status.MPI_TAG / sides % tracers;
    if (status.MPI_SOURCE != model->neighbour[side] || count != strip_doubles(model, side)) {
        fprintf(stderr, "atmosphere: no border of side %d can have %d numbers from rank %d\n", side, count, status.MPI_SOURCE);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (status.MPI_TAG == border_tag(step, tracer, side)) {
        place_border(model, tracer, side, model->arrived);
        return true;
    }
    struct early *early = &model->early[tracer][side];
    double *unused = early->data;
    *early = (struct early){model->arrived, true};
    model->arrived = unused;
    return false;
}

/* A neighbour is at most one step ahead: for a second one it would need a border that is sent only after this exchange. */
static void exchange_borders(struct model *model, int step) {
    MPI_Request sends[tracers * sides];
    int missing = tracers * sides;
    send_borders(model, step, sends);
    for (int tracer = 0; tracer < tracers; tracer++) {
        for (int side = 0; side < sides; side++) {
            struct early *early = &model->early[tracer][side];
            if (!early->is_here) continue;
            place_border(model, tracer, side, early->data);
            early->is_here = false;
            missing--;
        }
    }
    while (missing > 0) missing -= receive_border(model, step);
    MPI_Waitall(tracers * sides, sends, MPI_STATUSES_IGNORE);
}

/*
 * What crosses a face in a step, in all levels: the cell upwind with a slope (van Leer's, which makes no new extremes), and
 * diffusion from b to c. Cells lie in the order a, b, face, c, d.
 */
static void face_flux(int levels, const double *restrict a, const double *restrict b, const double *restrict c,
                      const double *restrict d, double wind, const double *restrict shear, double *restrict flux) {
    bool is_from_b = wind >= 0;
    const double *far = is_from_b ? a : d, *donor = is_from_b ? b : c, *receiver = is_from_b ? c : b;
    for (int level = 0; level < levels; level++) {
        double courant = wind * shear[level];
        double rise = donor[level] - far[level], next = receiver[level] - donor[level], product = rise * next;
        double slope = product > 0 ? product / (rise + next) : 0;
        flux[level] = courant * (donor[level] + (1 - fabs(courant)) * slope) - diffusion * (c[level] - b[level]);
    }
}

static void apply_fluxes(int levels, const double *restrict now, const double *restrict from_west, const double *restrict to_east,
                         const double *restrict from_south, const double *restrict to_north, double *restrict next) {
    for (int level = 0; level < levels; level++) {
        next[level] = now[level] - (to_east[level] - from_west[level]) - (to_north[level] - from_south[level]);
    }
}

/* Implicit, so that mixing may be as strong as it likes. */
static void mix_column(int levels, const double *restrict inverse, double *restrict column) {
    column[0] *= inverse[0];
    for (int level = 1; level < levels; level++) {
        column[level] = (column[level] + vertical_mixing * column[level - 1]) * inverse[level];
    }
    for (int level = levels - 2; level >= 0; level--) {
        column[level] += vertical_mixing * inverse[level] * column[level + 1];
    }
}

static void southern_fluxes(struct model *model, int tracer, int y, double *flux) {
    int levels = model->whole.levels;
    ptrdiff_t row = (ptrdiff_t)model->row_doubles;
    for (int x = 0; x < model->columns; x++) {
        const double *cell = model->now[tracer] + column_at(model, x, y);
        face_flux(levels, cell - 2 * row, cell - row, cell, cell + row, model->wind_y[(size_t)y * model->columns + x],
                  model->shear, flux + (size_t)x * levels);
    }
}

static void western_flux(struct model *model, int tracer, int x, int y, double *flux) {
    int levels = model->whole.levels;
    const double *cell = model->now[tracer] + column_at(model, x, y);
    face_flux(levels, cell - 2 * levels, cell - levels, cell, cell + levels,
              model->wind_x[(size_t)y * (model->columns + 1) + x], model->shear, flux);
}

/* Each flux is made once and kept until the cell on its other side has used it. */
static void step_tracer(struct model *model, int tracer) {
    int levels = model->whole.levels;
    southern_fluxes(model, tracer, 0, model->flux_y[0]);
    for (int y = 0; y < model->rows; y++) {
        const double *from_south = model->flux_y[y % 2];
        double *to_north = model->flux_y[(y + 1) % 2];
        southern_fluxes(model, tracer, y + 1, to_north);
        western_flux(model, tracer, 0, y, model->flux_x[0]);
        for (int x = 0; x < model->columns; x++) {
            double *to_east = model->flux_x[(x + 1) % 2];
            size_t cell = column_at(model, x, y), face = (size_t)x * levels;
            western_flux(model, tracer, x + 1, y, to_east);
            apply_fluxes(levels, model->now[tracer] + cell, model->flux_x[x % 2], to_east, from_south + face, to_north + face,
                         model->next[tracer] + cell);
            mix_column(levels, model->inverse, model->next[tracer] + cell);
        }
    }
}

static void step_model(struct model *model, int step) {
    exchange_borders(model, step);
    for (int tracer = 0; tracer < tracers; tracer++) {
        step_tracer(model, tracer);
        double *old = model->now[tracer];
        model->now[tracer] = model->next[tracer];
        model->next[tracer] = old;
    }
}

/* A sum over all cells of a hash of place and value: the order does not matter, so neither do the tiles. */
static uint64_t checksum(struct model *model) {
    uint64_t mine = 0, all;
    for (int tracer = 0; tracer < tracers; tracer++) {
        for (int j = 0; j < model->rows; j++) {
            for (int i = 0; i < model->columns; i++) {
                const double *column = model->now[tracer] + column_at(model, i, j);
                uint64_t row = (uint64_t)tracer * model->whole.ny + model->first_row + j;
                uint64_t place = (row * model->whole.nx + model->first_column + i) * model->whole.levels;
                for (int level = 0; level < model->whole.levels; level++) {
                    uint64_t bits;
                    memcpy(&bits, &column[level], sizeof bits);
                    mine += hash_bits(bits + hash_bits(place + level + 1));
                }
            }
        }
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, model->cart);
    return all;
}

static double sum_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum;
}

/* Columns first, then rows of them, then all: a single long sum would lose more digits than the model does. */
static void tracer_masses(struct model *model, double mass[tracers]) {
    double mine[tracers] = {0};
    for (int tracer = 0; tracer < tracers; tracer++) {
        for (int y = 0; y < model->rows; y++) {
            double row = 0;
            for (int x = 0; x < model->columns; x++) {
                row += sum_of(model->now[tracer] + column_at(model, x, y), model->whole.levels);
            }
            mine[tracer] += row;
        }
    }
    MPI_Allreduce(mine, mass, tracers, MPI_DOUBLE, MPI_SUM, model->cart);
}

/* The checksum after the first steps of a model that this rank computes alone. */
static uint64_t checksum_of_one_rank(struct sizes whole, int steps) {
    struct model model = make_model(MPI_COMM_SELF, whole);
    for (int step = 0; step < steps; step++) step_model(&model, step);
    uint64_t sum = checksum(&model);
    free_model(&model);
    return sum;
}

struct outcome {
    double seconds;
    double mass_before[tracers], mass_after[tracers];
    int steps_repeated;
    uint64_t sum_early, sum_alone, sum_late; /* after the steps that are repeated, by all ranks and by one; at the end */
};

static struct outcome run(struct model *model, int steps) {
    struct outcome outcome = {.steps_repeated = steps < steps_repeated_max ? steps : steps_repeated_max};
    tracer_masses(model, outcome.mass_before);
    double start = kernel_clock();
    for (int step = 0; step < steps; step++) {
        step_model(model, step);
        if (step + 1 == outcome.steps_repeated) outcome.sum_early = checksum(model);
    }
    outcome.seconds = kernel_clock() - start;
    tracer_masses(model, outcome.mass_after);
    outcome.sum_late = checksum(model);
    return outcome;
}

static double mass_error(const struct outcome *outcome) {
    double error = 0;
    for (int i = 0; i < tracers; i++) {
        error = fmax(error, fabs(outcome->mass_after[i] - outcome->mass_before[i]) / outcome->mass_before[i]);
    }
    return error;
}

static void print_outcome(const struct kernel *kernel, const struct model *model, const struct outcome *outcome, int steps) {
    struct sizes whole = model->whole;
    double cells = (double)whole.nx * whole.ny * whole.levels * tracers;
    kernel_title(kernel, "four trace gases, wind, diffusion and mixing on a torus");
    kernel_line(kernel, "size", "%d x %d columns, %d levels, %d steps", whole.nx, whole.ny, whole.levels, steps);
    kernel_line(kernel, "ranks", "%d (%d x %d tiles)", kernel->ranks, model->parts[0], model->parts[1]);
    kernel_line(kernel, "time", "%.3f s", outcome->seconds);
    kernel_line(kernel, "rate", "%.2f million cells/s", cells * steps / outcome->seconds * 1e-6);
    kernel_line(kernel, "mass", "changed by %.2e of itself, at most %.0e wanted", mass_error(outcome), mass_error_max);
    kernel_line(kernel, "checksum", "%016" PRIx64 " at the end; below, after %d steps and on one rank alone", outcome->sum_late,
                outcome->steps_repeated);
}

static struct sizes read_sizes(const struct kernel *kernel) {
    struct sizes whole;
    int parts[2] = {0};
    whole.nx = kernel_option(kernel, (struct option){1, "nx", 128, 4, 4096});
    whole.ny = kernel_option(kernel, (struct option){2, "ny", whole.nx, 4, 4096});
    whole.levels = kernel_option(kernel, (struct option){3, "levels", 32, 1, 1024});
    MPI_Dims_create(kernel->ranks, 2, parts);
    if (whole.nx / parts[0] < halo || whole.ny / parts[1] < halo) {
        kernel_refuse(kernel, "cannot cut %d x %d columns into %d x %d tiles", whole.nx, whole.ny, parts[0], parts[1]);
    }
    return whole;
}

int main(int argc, char **argv) {
    struct kernel kernel = kernel_start(&argc, &argv, "atmosphere", "[nx] [ny] [levels] [steps]");
    kernel_arguments_max(&kernel, 4);
    struct sizes whole = read_sizes(&kernel);
    int steps = kernel_option(&kernel, (struct option){4, "steps", 100, 1, 100000});

    struct model model = make_model(MPI_COMM_WORLD, whole);
    struct outcome outcome = run(&model, steps);
    if (kernel.rank == 0) outcome.sum_alone = checksum_of_one_rank(whole, outcome.steps_repeated);
    print_outcome(&kernel, &model, &outcome, steps);
    free_model(&model);
    return kernel_finish_checksum(&kernel, outcome.sum_early, outcome.sum_alone, mass_error(&outcome) <= mass_error_max);
}
