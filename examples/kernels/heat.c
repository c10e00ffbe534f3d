/*
 * Heat in a square plate whose upper edge is kept at sin(pi x) and whose other edges are kept at zero, stepped until nothing
 * changes any more. The plate is cut into tiles on a Cartesian communicator; a column of a tile is a derived datatype. Every
 * hundred steps the ranks agree on the largest change and on whether it is small enough.
 *
 *     banyan run -n 4 examples/kernels/heat.c [size] [steps at most]
 *
 * The temperature in the end is known: sin(pi x) sinh(pi y) / sinh(pi). The TypeScript program of the same name, one folder up,
 * cuts the plate into bands.
 */
#include "kernel.h"

enum { steps_between_tests = 100 };

struct plate {
    MPI_Comm cart;
    int size;              /* inner points in each direction of the whole plate */
    int parts[2];          /* tiles in y and x */
    int rows, columns;     /* own points, around which lies a border of one point */
    int first_row, first_column;
    int stride;            /* doubles from a row to the next one */
    double step;           /* between points */
    int north, south, west, east;
    MPI_Datatype row, column;
    double *now, *next;
};

static size_t point_at(const struct plate *plate, int row, int column) {
    return (size_t)(row + 1) * plate->stride + (size_t)(column + 1);
}

static void place_tiles(struct plate *plate, int ranks) {
    int rank, periodic[2] = {0, 0}, place[2];
    plate->parts[0] = plate->parts[1] = 0;
    MPI_Dims_create(ranks, 2, plate->parts);
    MPI_Cart_create(MPI_COMM_WORLD, 2, plate->parts, periodic, 1, &plate->cart);
    MPI_Comm_rank(plate->cart, &rank);
    MPI_Cart_coords(plate->cart, rank, 2, place);
    MPI_Cart_shift(plate->cart, 0, 1, &plate->south, &plate->north);
    MPI_Cart_shift(plate->cart, 1, 1, &plate->west, &plate->east);
    plate->rows = share_count(plate->size, plate->parts[0], place[0]);
    plate->first_row = share_first(plate->size, plate->parts[0], place[0]);
    plate->columns = share_count(plate->size, plate->parts[1], place[1]);
    plate->first_column = share_first(plate->size, plate->parts[1], place[1]);
}

/* The fixed edges are part of the border of the tiles there; `next` needs them too, as the two change places. */
static void allocate_tile(struct plate *plate) {
    plate->stride = plate->columns + 2;
    size_t doubles = (size_t)plate->stride * (plate->rows + 2);
    plate->now = kernel_doubles(doubles);
    plate->next = kernel_doubles(doubles);
    if (plate->north == MPI_PROC_NULL) {
        for (int column = 0; column < plate->columns; column++) {
            double x = (plate->first_column + column + 1) * plate->step;
            size_t at = point_at(plate, plate->rows, column);
            plate->now[at] = plate->next[at] = sin(acos(-1) * x);
        }
    }
    MPI_Type_contiguous(plate->columns, MPI_DOUBLE, &plate->row);
    MPI_Type_vector(plate->rows, 1, plate->stride, MPI_DOUBLE, &plate->column);
    MPI_Type_commit(&plate->row);
    MPI_Type_commit(&plate->column);
}

static void free_plate(struct plate *plate) {
    MPI_Type_free(&plate->row);
    MPI_Type_free(&plate->column);
    MPI_Comm_free(&plate->cart);
    free(plate->now);
    free(plate->next);
}

/* Shifts one line of the tile to the neighbour on one side while the line of the other side comes in. */
static void shift(const struct plate *plate, MPI_Datatype line, size_t from, int target, size_t into, int source) {
    MPI_Sendrecv(plate->now + from, 1, line, target, 0, plate->now + into, 1, line, source, 0, plate->cart, MPI_STATUS_IGNORE);
}

static void exchange_borders(const struct plate *plate) {
    int rows = plate->rows, columns = plate->columns;
    shift(plate, plate->row, point_at(plate, rows - 1, 0), plate->north, point_at(plate, -1, 0), plate->south);
    shift(plate, plate->row, point_at(plate, 0, 0), plate->south, point_at(plate, rows, 0), plate->north);
    shift(plate, plate->column, point_at(plate, 0, columns - 1), plate->east, point_at(plate, 0, -1), plate->west);
    shift(plate, plate->column, point_at(plate, 0, 0), plate->west, point_at(plate, 0, columns), plate->east);
}

static void relax_row(const double *restrict south, const double *restrict here, const double *restrict north,
                      double *restrict next, int columns) {
    for (int i = 0; i < columns; i++) next[i] = 0.25 * (south[i] + north[i] + here[i - 1] + here[i + 1]);
}

static void step_plate(struct plate *plate) {
    exchange_borders(plate);
    for (int row = 0; row < plate->rows; row++) {
        const double *here = plate->now + point_at(plate, row, 0);
        relax_row(here - plate->stride, here, here + plate->stride, plate->next + point_at(plate, row, 0), plate->columns);
    }
    double *old = plate->now;
    plate->now = plate->next;
    plate->next = old;
}

static double change_of_tile(const struct plate *plate) {
    double change = 0;
    for (int row = 0; row < plate->rows; row++) {
        const double *now = plate->now + point_at(plate, row, 0), *before = plate->next + point_at(plate, row, 0);
        for (int i = 0; i < plate->columns; i++) {
            double difference = fabs(now[i] - before[i]);
            if (difference > change) change = difference;
        }
    }
    return change;
}

/* Returns the steps that it took, or `steps_max` if the plate was not at rest by then. */
static int run_to_rest(struct plate *plate, double change_max, int steps_max) {
    for (int step = 1; step <= steps_max; step++) {
        step_plate(plate);
        if (step % steps_between_tests != 0) continue;
        if (kernel_reduce(change_of_tile(plate), MPI_MAX) < change_max) return step;
    }
    return steps_max;
}

static double largest_error(const struct plate *plate) {
    double error = 0, pi = acos(-1);
    for (int row = 0; row < plate->rows; row++) {
        double height = sinh(pi * (plate->first_row + row + 1) * plate->step) / sinh(pi);
        const double *now = plate->now + point_at(plate, row, 0);
        for (int i = 0; i < plate->columns; i++) {
            double exact = sin(pi * (plate->first_column + i + 1) * plate->step) * height;
            if (fabs(now[i] - exact) > error) error = fabs(now[i] - exact);
        }
    }
    return kernel_reduce(error, MPI_MAX);
}

int main(int argc, char **argv) {
    struct kernel kernel = kernel_start(&argc, &argv, "heat", "[size] [steps at most]");
    kernel_arguments_max(&kernel, 2);
    struct plate plate = {.size = kernel_option(&kernel, (struct option){1, "size", 160, 2, 8192})};
    int steps_max = kernel_option(&kernel, (struct option){2, "steps at most", 1000000, 1, 100000000});
    plate.step = 1.0 / (plate.size + 1);
    place_tiles(&plate, kernel.ranks);
    if (plate.size < plate.parts[0] || plate.size < plate.parts[1]) {
        kernel_refuse(&kernel, "cannot cut %d x %d points into %d x %d tiles", plate.size, plate.size, plate.parts[0],
                      plate.parts[1]);
    }
    allocate_tile(&plate);

    /*
     * The difference equation is wrong by less than step^2. A step takes away 5 step^2 of what is left of the slowest wave, so
     * when a step changes nothing by more than step^4 the plate is within step^2 / 5 of its rest.
     */
    double accuracy = plate.step * plate.step;
    double start = kernel_clock();
    int steps = run_to_rest(&plate, accuracy * accuracy, steps_max);
    double seconds = kernel_clock() - start;
    double error = largest_error(&plate), points = (double)plate.size * plate.size;

    kernel_title(&kernel, "temperature of a square plate at rest");
    kernel_line(&kernel, "size", "%d x %d points, %d steps", plate.size, plate.size, steps);
    kernel_line(&kernel, "ranks", "%d (%d x %d tiles)", kernel.ranks, plate.parts[0], plate.parts[1]);
    kernel_line(&kernel, "time", "%.3f s", seconds);
    kernel_line(&kernel, "rate", "%.1f million points/s", points * steps / seconds * 1e-6);
    free_plate(&plate);
    return kernel_finish(&kernel, (struct verdict){error, accuracy, error <= accuracy});
}
