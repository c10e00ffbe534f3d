/*
 * MG: Poisson's equation on a periodic cube, with twenty charges, by four V-cycles of multigrid. Messages between
 * neighbours in three dimensions, of all sizes from faces of the finest grid down to single points.
 *
 *     banyan run -n 4 examples/kernels/mg.c A        1, 2, 4, 8 … ranks
 *
 * The ranks form a box, and each holds a part of every grid with one layer of its neighbours' points around it, the halo.
 * Grids too coarse to be dealt out are held whole by all ranks, which compute the same there.
 */
#include "npb.h"

enum { ITERATIONS = 4, SIDE_MAX = 256, ROW_MAX = SIDE_MAX + 2, LEVELS_MAX = 8, CHARGES = 10 };
enum { X, Y, Z, AXES };

typedef struct {
    int levels;
    double norm;
} problem;

/* Level k has 2^(k+1) points along each side. */
static const problem problems[] = {
    {5, 0.5307707005734e-4},
    {7, 0.6467329375339e-5},
    {8, 0.2433365309069e-5},
};

/* How the ranks of the box lie, and the buffers for the face that each sends to and receives from both sides. */
typedef struct {
    int size[AXES];
    int place[AXES];
    int neighbour[AXES][2];
    double *sent[2], *received[2];
} box;

/* One grid, or a rank's part of it. Point (x, y, z) is at x + y · row + z · plane; the points of the halo have 0 or n + 1. */
typedef struct {
    int n[AXES];
    ptrdiff_t row, plane;
    size_t count;
    /* Of one rank alone where the grid is held whole. */
    const box *box;
    double *u, *r;
} level;

typedef struct {
    int ranks;
    box box, alone;
    int levels;
    level level[LEVELS_MAX];
    /* The right-hand side on the finest grid. */
    double *v;
} multigrid;

static int place_to_rank(const int size[AXES], const int place[AXES]) {
    return (place[Z] * size[Y] + place[Y]) * size[X] + place[X];
}

static void rank_to_place(const int size[AXES], int rank, int place[AXES]) {
    place[X] = rank % size[X];
    place[Y] = rank / size[X] % size[Y];
    place[Z] = rank / size[X] / size[Y];
}

/* Halves along z first and along x last: faces across z are whole stretches of memory. */
static box make_box(int rank, int ranks) {
    box b = {.size = {1, 1, 1}};
    for (int axis = Z; ranks > 1; ranks /= 2, axis = axis == X ? Z : axis - 1) b.size[axis] *= 2;
    rank_to_place(b.size, rank, b.place);
    for (int axis = X; axis < AXES; axis++) {
        for (int side = 0; side < 2; side++) {
            int place[AXES] = {b.place[X], b.place[Y], b.place[Z]};
            place[axis] = (place[axis] + (side ? 1 : b.size[axis] - 1)) % b.size[axis];
            b.neighbour[axis][side] = place_to_rank(b.size, place);
        }
    }
    return b;
}

static void allocate_faces(box *b, size_t points) {
    for (int side = 0; side < 2; side++) {
        b->sent[side] = npb_allocate(points, sizeof(double));
        b->received[side] = npb_allocate(points, sizeof(double));
    }
}

static level make_level(const int n[AXES], const box *b) {
    level l = {.n = {n[X], n[Y], n[Z]}, .box = b};
    l.row = n[X] + 2;
    l.plane = l.row * (n[Y] + 2);
    l.count = (size_t)l.plane * (n[Z] + 2);
    l.u = npb_allocate(l.count, sizeof(double));
    l.r = npb_allocate(l.count, sizeof(double));
    return l;
}

/* A part must have two points to be halved again; at the end, one is enough. */
static bool can_deal_out(const box *b, int level_index) {
    int points_min = level_index == 0 ? 1 : 2;
    for (int axis = X; axis < AXES; axis++) {
        if ((2 << level_index) / b->size[axis] < points_min) return false;
    }
    return true;
}

static void make_multigrid(multigrid *m, const npb_run *run, const problem *p) {
    *m = (multigrid){.ranks = run->ranks, .levels = p->levels};
    m->box = make_box(run->rank, run->ranks);
    m->alone = make_box(0, 1);
    for (int k = 0; k < p->levels; k++) {
        const box *b = can_deal_out(&m->box, k) ? &m->box : &m->alone;
        int n[AXES];
        for (int axis = X; axis < AXES; axis++) n[axis] = (2 << k) / b->size[axis];
        m->level[k] = make_level(n, b);
    }
    const level *finest = &m->level[p->levels - 1];
    m->v = npb_allocate(finest->count, sizeof(double));
    size_t side = (size_t)finest->n[X] + 2;
    allocate_faces(&m->box, side * side);
}

/* The points of one layer across an axis. Halos of the axes before it belong to it, so that corners travel along. */
typedef struct {
    ptrdiff_t first;
    int outer, inner;
    ptrdiff_t outer_stride, inner_stride;
} face;

static face face_at(const level *l, int axis, int index) {
    switch (axis) {
    case X: return (face){l->plane + l->row + index, l->n[Z], l->n[Y], l->plane, l->row};
    case Y: return (face){l->plane + index * l->row, l->n[Z], (int)l->row, l->plane, 1};
    default: return (face){index * l->plane, 1, (int)l->plane, 0, 1};
    }
}

static void pack(face f, const double *restrict data, double *restrict buffer) {
    for (int o = 0; o < f.outer; o++) {
        const double *from = data + f.first + o * f.outer_stride;
        for (int i = 0; i < f.inner; i++) *buffer++ = from[i * f.inner_stride];
    }
}

static void unpack(face f, const double *restrict buffer, double *restrict data) {
    for (int o = 0; o < f.outer; o++) {
        double *to = data + f.first + o * f.outer_stride;
        for (int i = 0; i < f.inner; i++) to[i * f.inner_stride] = *buffer++;
    }
}

static void copy_face(face from, face to, double *data) {
    for (int o = 0; o < from.outer; o++) {
        const double *source = data + from.first + o * from.outer_stride;
        double *target = data + to.first + o * to.outer_stride;
        for (int i = 0; i < from.inner; i++) target[i * to.inner_stride] = source[i * from.inner_stride];
    }
}

/* Both neighbours may be the same rank, so the tag says which way a face travels. */
static void exchange_faces(const level *l, double *data, int axis) {
    const box *b = l->box;
    int points = face_at(l, axis, 0).outer * face_at(l, axis, 0).inner;
    MPI_Request requests[2];
    for (int side = 0; side < 2; side++) {
        MPI_Irecv(b->received[side], points, MPI_DOUBLE, b->neighbour[axis][side], 1 - side, MPI_COMM_WORLD, &requests[side]);
    }
    for (int side = 0; side < 2; side++) {
        pack(face_at(l, axis, side ? l->n[axis] : 1), data, b->sent[side]);
        MPI_Send(b->sent[side], points, MPI_DOUBLE, b->neighbour[axis][side], side, MPI_COMM_WORLD);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; side++) {
        unpack(face_at(l, axis, side ? l->n[axis] + 1 : 0), b->received[side], data);
    }
}

static void update_halo(const level *l, double *data) {
    for (int axis = X; axis < AXES; axis++) {
        int n = l->n[axis];
        if (l->box->size[axis] > 1) {
            exchange_faces(l, data, axis);
        } else {
            copy_face(face_at(l, axis, n), face_at(l, axis, 0), data);
            copy_face(face_at(l, axis, 1), face_at(l, axis, n + 1), data);
        }
    }
}

/*
 * All operators weigh the 27 points around one by whether they are the centre, share a face, an edge or a corner with it.
 * They go by rows, and these are the sums that neighbours in a row share: the four points beside each in y or z, and the
 * four diagonally off in y and z. With them, the points of a face are beside[i] and the two in the row, those of an edge
 * are diagonal[i], beside[i − 1] and beside[i + 1], and those of a corner are diagonal[i − 1] and diagonal[i + 1].
 */
typedef struct {
    double beside[ROW_MAX], diagonal[ROW_MAX];
} row_sums;

static void sum_rows(const level *l, const double *restrict row, row_sums *restrict sums) {
    const double *below = row - l->plane, *above = row + l->plane;
    ptrdiff_t y = l->row;
    int points = l->n[X] + 2;
    for (int i = 0; i < points; i++) {
        sums->beside[i] = row[i - y] + row[i + y] + below[i] + above[i];
        sums->diagonal[i] = below[i - y] + below[i + y] + above[i - y] + above[i + y];
    }
}

/* r and v may be the same. */
static void residual_row(int n, const double *restrict u, const row_sums *restrict s, const double *v, double *r) {
    const double centre = -8.0 / 3, edge = 1.0 / 6, corner = 1.0 / 12;
    for (int i = 1; i <= n; i++) {
        r[i] = v[i] - centre * u[i] - edge * (s->diagonal[i] + s->beside[i - 1] + s->beside[i + 1]) -
               corner * (s->diagonal[i - 1] + s->diagonal[i + 1]);
    }
}

/* r ← v − A u */
static void residual(const level *l, const double *v) {
    static row_sums sums;
    for (int z = 1; z <= l->n[Z]; z++) {
        for (int y = 1; y <= l->n[Y]; y++) {
            ptrdiff_t at = z * l->plane + y * l->row;
            sum_rows(l, l->u + at, &sums);
            residual_row(l->n[X], l->u + at, &sums, v + at, l->r + at);
        }
    }
    update_halo(l, l->r);
}

static void smooth_row(int n, const double *restrict r, const row_sums *restrict s, double *restrict u) {
    const double centre = -3.0 / 8, face = 1.0 / 32, edge = -1.0 / 64;
    for (int i = 1; i <= n; i++) {
        u[i] += centre * r[i] + face * (r[i - 1] + r[i + 1] + s->beside[i]) +
                edge * (s->diagonal[i] + s->beside[i - 1] + s->beside[i + 1]);
    }
}

/* u ← u + S r */
static void smooth(const level *l) {
    static row_sums sums;
    for (int z = 1; z <= l->n[Z]; z++) {
        for (int y = 1; y <= l->n[Y]; y++) {
            ptrdiff_t at = z * l->plane + y * l->row;
            sum_rows(l, l->r + at, &sums);
            smooth_row(l->n[X], l->r + at, &sums, l->u + at);
        }
    }
    update_halo(l, l->u);
}

/* Coarse point j lies on fine point 2j. */
static void restrict_row(int n, const double *restrict fine, const row_sums *restrict s, double *restrict coarse) {
    for (int j = 1; j <= n; j++) {
        int i = 2 * j;
        coarse[j] = 0.5 * fine[i] + 0.25 * (fine[i - 1] + fine[i + 1] + s->beside[i]) +
                    0.125 * (s->diagonal[i] + s->beside[i - 1] + s->beside[i + 1]) +
                    0.0625 * (s->diagonal[i - 1] + s->diagonal[i + 1]);
    }
}

/* Writes the coarse points above this rank's part of the fine grid; `coarse` is where point (0, 0, 0) of them would be. */
static void restrict_part(const level *fine, double *coarse, ptrdiff_t row, ptrdiff_t plane) {
    static row_sums sums;
    for (int z = 1; z <= fine->n[Z] / 2; z++) {
        for (int y = 1; y <= fine->n[Y] / 2; y++) {
            const double *from = fine->r + 2 * z * fine->plane + 2 * y * fine->row;
            sum_rows(fine, from, &sums);
            restrict_row(fine->n[X] / 2, from, &sums, coarse + z * plane + y * row);
        }
    }
}

/* Where this rank's part begins in the coarse grid: not at 0 only where that one is held whole and the fine one is not. */
static ptrdiff_t part_offset(const level *coarse, const level *fine) {
    if (coarse->box == fine->box) return 0;
    const int *place = fine->box->place;
    return place[X] * (fine->n[X] / 2) + place[Y] * (fine->n[Y] / 2) * coarse->row +
           place[Z] * (fine->n[Z] / 2) * coarse->plane;
}

/* r of the coarse grid ← r of the fine one. The parts of a grid that is held whole are put together by a sum with zeros. */
static void restrict_residual(const level *fine, const level *coarse) {
    bool put_together = coarse->box != fine->box;
    if (put_together) memset(coarse->r, 0, coarse->count * sizeof(double));
    restrict_part(fine, coarse->r + part_offset(coarse, fine), coarse->row, coarse->plane);
    if (put_together) {
        MPI_Allreduce(MPI_IN_PLACE, coarse->r, (int)coarse->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    update_halo(coarse, coarse->r);
}

/* Adds a row of coarse points to fine ones: where they are, and halfway between them. */
static void spread_row(int n, const double *restrict coarse, double weight, double *restrict fine) {
    for (int j = 0; j <= n; j++) {
        fine[2 * j] += weight * coarse[j];
        fine[2 * j + 1] += 0.5 * weight * (coarse[j] + coarse[j + 1]);
    }
}

/* The sums of a coarse row with its neighbours in y, in z, and of all four. */
typedef struct {
    double y[ROW_MAX], z[ROW_MAX], both[ROW_MAX];
} pair_sums;

static void sum_pairs(const level *l, int n, const double *restrict row, pair_sums *restrict sums) {
    const double *next = row + l->row, *above = row + l->plane, *above_next = above + l->row;
    for (int j = 0; j <= n + 1; j++) {
        sums->y[j] = row[j] + next[j];
        sums->z[j] = row[j] + above[j];
        sums->both[j] = sums->y[j] + above[j] + above_next[j];
    }
}

/* u of the fine grid ← u + what the coarse one says between its points. This reaches into the halo, and so keeps it right. */
static void interpolate(const level *coarse, const level *fine) {
    static pair_sums sums;
    const double *part = coarse->u + part_offset(coarse, fine);
    int n = fine->n[X] / 2;
    for (int z = 0; z <= fine->n[Z] / 2; z++) {
        for (int y = 0; y <= fine->n[Y] / 2; y++) {
            const double *from = part + z * coarse->plane + y * coarse->row;
            double *to = fine->u + 2 * z * fine->plane + 2 * y * fine->row;
            sum_pairs(coarse, n, from, &sums);
            spread_row(n, from, 1, to);
            spread_row(n, sums.y, 0.5, to + fine->row);
            spread_row(n, sums.z, 0.5, to + fine->plane);
            spread_row(n, sums.both, 0.25, to + fine->row + fine->plane);
        }
    }
}

static void set_zero(const level *l, double *data) {
    memset(data, 0, l->count * sizeof(double));
}

/* One V-cycle: the residual down to the coarsest grid, the correction up again. */
static void cycle(const multigrid *m) {
    int finest = m->levels - 1;
    for (int k = finest; k > 0; k--) restrict_residual(&m->level[k], &m->level[k - 1]);
    set_zero(&m->level[0], m->level[0].u);
    smooth(&m->level[0]);
    for (int k = 1; k <= finest; k++) {
        const level *l = &m->level[k];
        if (k < finest) set_zero(l, l->u);
        interpolate(&m->level[k - 1], l);
        residual(l, k < finest ? l->r : m->v);
        smooth(l);
    }
}

/* The root of the mean square over all points of the finest grid. */
static double norm(const level *l, const double *data) {
    double mine = 0, all;
    for (int z = 1; z <= l->n[Z]; z++) {
        for (int y = 1; y <= l->n[Y]; y++) {
            const double *row = data + z * l->plane + y * l->row;
            for (int x = 1; x <= l->n[X]; x++) mine += row[x] * row[x];
        }
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double points = 1;
    for (int axis = X; axis < AXES; axis++) points *= l->n[axis] * l->box->size[axis];
    return sqrt(all / points);
}

/* The number that a rank's first point of a row has among the points of the whole grid. */
static int64_t number_of_row(const level *l, int y, int z) {
    const box *b = l->box;
    int64_t side = (int64_t)l->n[X] * b->size[X];
    return ((b->place[Z] * l->n[Z] + z - 1) * side + b->place[Y] * l->n[Y] + y - 1) * side + b->place[X] * l->n[X];
}

static void fill_with_random(const level *l, double *data) {
    for (int z = 1; z <= l->n[Z]; z++) {
        for (int y = 1; y <= l->n[Y]; y++) {
            uint64_t random = npb_random_skip(NPB_SEED, (uint64_t)number_of_row(l, y, z));
            npb_random_fill(&random, l->n[X], data + z * l->plane + y * l->row + 1);
        }
    }
}

/* A point by its number, and its random number or the negative of it. Both are doubles, to travel together. */
typedef struct {
    double value, point;
} candidate;

/* Keeps the largest, the very largest first. */
static void keep_largest(candidate kept[CHARGES], candidate c) {
    int at = CHARGES - 1;
    if (c.value <= kept[at].value) return;
    for (; at > 0 && kept[at - 1].value < c.value; at--) kept[at] = kept[at - 1];
    kept[at] = c;
}

static void forget_all(candidate kept[CHARGES]) {
    for (int i = 0; i < CHARGES; i++) kept[i] = (candidate){-2, 0};
}

static void find_my_largest(const level *l, const double *data, double sign, candidate kept[CHARGES]) {
    forget_all(kept);
    for (int z = 1; z <= l->n[Z]; z++) {
        for (int y = 1; y <= l->n[Y]; y++) {
            const double *row = data + z * l->plane + y * l->row + 1;
            double number = (double)number_of_row(l, y, z);
            for (int x = 0; x < l->n[X]; x++) keep_largest(kept, (candidate){sign * row[x], number + x});
        }
    }
}

/* The points with the largest values of all, or with the sign −1 the smallest, on every rank. */
static void find_largest(const multigrid *m, const level *l, const double *data, double sign, candidate kept[CHARGES]) {
    candidate mine[CHARGES], *all = npb_allocate((size_t)m->ranks * CHARGES, sizeof(candidate));
    find_my_largest(l, data, sign, mine);
    MPI_Allgather(mine, 2 * CHARGES, MPI_DOUBLE, all, 2 * CHARGES, MPI_DOUBLE, MPI_COMM_WORLD);
    forget_all(kept);
    for (int i = 0; i < m->ranks * CHARGES; i++) keep_largest(kept, all[i]);
    free(all);
}

static void place_charge(const level *l, double *data, double point, double value) {
    int64_t number = (int64_t)point;
    ptrdiff_t strides[AXES] = {1, l->row, l->plane}, at = 0;
    for (int axis = X; axis < AXES; axis++) {
        int side = l->n[axis] * l->box->size[axis];
        int index = (int)(number % side) - l->box->place[axis] * l->n[axis];
        if (index < 0 || index >= l->n[axis]) return;
        at += (index + 1) * strides[axis];
        number /= side;
    }
    data[at] = value;
}

/* The right-hand side: +1 where the random numbers are largest, −1 where they are smallest, else 0. */
static void make_charges(const multigrid *m) {
    const level *finest = &m->level[m->levels - 1];
    candidate largest[CHARGES], smallest[CHARGES];
    fill_with_random(finest, m->v);
    find_largest(m, finest, m->v, 1, largest);
    find_largest(m, finest, m->v, -1, smallest);
    set_zero(finest, m->v);
    for (int i = 0; i < CHARGES; i++) {
        place_charge(finest, m->v, largest[i].point, 1);
        place_charge(finest, m->v, smallest[i].point, -1);
    }
    update_halo(finest, m->v);
}

static double solve(const multigrid *m, int iterations) {
    const level *finest = &m->level[m->levels - 1];
    set_zero(finest, finest->u);
    residual(finest, m->v);
    for (int i = 0; i < iterations; i++) {
        cycle(m);
        residual(finest, m->v);
    }
    return norm(finest, finest->r);
}

int main(int argc, char **argv) {
    static multigrid m;
    npb_run run = npb_start_with(&argc, &argv, "MG", true);
    const problem *p = &problems[run.problem];
    npb_need_power_of_two(&run, 1 << (3 * (p->levels - 2)));
    make_multigrid(&m, &run, p);
    make_charges(&m);

    /* The specification wants one cycle outside of the time, to touch everything. */
    solve(&m, 1);
    double start = npb_clock_start();
    double computed = 0;
    for (int time = 0; time < run.times; time++) computed = solve(&m, ITERATIONS);
    double seconds = (MPI_Wtime() - start) / run.times;

    npb_check checks[] = {{"norm of residual", computed, p->norm}};
    npb_result result = {.iterations = ITERATIONS,
                         .seconds = seconds,
                         .operations = 58.0 * ITERATIONS * ldexp(1, 3 * p->levels),
                         .epsilon = 1e-8,
                         .check_count = 1,
                         .checks = checks};
    int side = 1 << p->levels;
    snprintf(result.size, sizeof result.size, "%d x %d x %d points", side, side, side);
    return npb_finish(&run, &result);
}
