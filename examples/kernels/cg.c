/*
 * CG: the smallest eigenvalue of a sparse symmetric matrix by inverse iteration, each step solved by 25 iterations of
 * conjugate gradients. Long irregular messages and many reductions of one number.
 *
 *     banyan run -n 4 examples/kernels/cg.c A        1, 2, 4, 8 … ranks
 *
 * The ranks form a grid, as many columns as rows or twice as many. A rank holds one block of the matrix and, of every
 * vector, the piece that belongs to its block column: the ranks of one grid row hold a whole vector among them. A product
 * leaves partial sums for the block row; they are added up along the grid row and sent to where the columns want them.
 */
#include "npb.h"

enum { SOLVER_STEPS = 25, OUTER_STEPS = 15, ENTRIES_MAX = 12 };

typedef struct {
    int n;
    /* Random entries of each vector that the matrix is made of. */
    int entries;
    double shift, zeta;
} problem;

static const problem problems[] = {
    {1400, 7, 10, 8.5971775078648},
    {7000, 8, 12, 10.362595087124},
    {14000, 11, 20, 17.130235054029},
};

static const double condition = 0.1;

/* From `first` up to, not including, `end`. */
typedef struct {
    int first, end;
} range;

typedef struct {
    int rows, columns;
    int row, column;
    bool is_square;
    range my_rows, my_columns;
    /* The ranks of my grid row, by column. */
    MPI_Comm row_ranks;
    /* The rank that has what my block column wants, and wants what I keep of the sums of my block row. */
    int transposed;
    /*
     * Counted from the first row of the block. A square grid keeps all sums. With twice as many columns, a block row is two
     * block columns long: even columns keep the first half and give the second to their odd neighbour.
     */
    range kept, given;
} grid;

typedef struct {
    int rows;
    int *restrict start;
    int *restrict column;
    double *restrict value;
} matrix;

/* The pieces of vectors that a rank works on. Partial sums have the length of a block row, all others of a block column. */
typedef struct {
    double *x, *z, *p, *q, *r;
    double *sums, *received;
} vectors;

/* Halving is consistent: piece i of n is pieces 2i and 2i + 1 of 2n, whatever the remainder. */
static range piece(int n, int index, int count) {
    return (range){(int)((int64_t)n * index / count), (int)((int64_t)n * (index + 1) / count)};
}

static int length(range r) {
    return r.end - r.first;
}

static bool contains(range r, int index) {
    return r.first <= index && index < r.end;
}

static void place_halves(grid *g, int n) {
    if (g->is_square) {
        g->transposed = g->column * g->columns + g->row;
        g->kept = (range){0, length(g->my_rows)};
        return;
    }
    int half = g->column % 2, first = g->my_rows.first;
    range kept = piece(n, 2 * g->row + half, g->columns), given = piece(n, 2 * g->row + 1 - half, g->columns);
    g->transposed = g->column / 2 * g->columns + 2 * g->row + half;
    g->kept = (range){kept.first - first, kept.end - first};
    g->given = (range){given.first - first, given.end - first};
}

static grid make_grid(const npb_run *run, int n) {
    grid g = {.rows = 1, .columns = 1};
    while (g.rows * g.columns < run->ranks) {
        if (g.columns == g.rows) g.columns *= 2;
        else g.rows *= 2;
    }
    g.is_square = g.rows == g.columns;
    g.row = run->rank / g.columns;
    g.column = run->rank % g.columns;
    g.my_rows = piece(n, g.row, g.rows);
    g.my_columns = piece(n, g.column, g.columns);
    place_halves(&g, n);
    MPI_Comm_split(MPI_COMM_WORLD, g.row, g.column, &g.row_ranks);
    return g;
}

typedef struct {
    int count;
    int index[ENTRIES_MAX];
    double value[ENTRIES_MAX];
} sparse_vector;

static int find_entry(const sparse_vector *v, int index) {
    int at = 0;
    while (at < v->count && v->index[at] != index) at++;
    return at;
}

/* Random entries at random places, and one half at the diagonal, where a random entry gives way to it. */
static sparse_vector make_vector(uint64_t *random, const problem *p, int diagonal) {
    int places = 1;
    while (places < p->n) places *= 2;

    sparse_vector v = {0};
    while (v.count < p->entries) {
        double value = npb_random(random);
        int index = (int)(places * npb_random(random));
        if (index >= p->n || find_entry(&v, index) < v.count) continue;
        v.index[v.count] = index;
        v.value[v.count++] = value;
    }
    int at = find_entry(&v, diagonal);
    v.index[at] = diagonal;
    v.value[at] = 0.5;
    if (at == v.count) v.count++;
    return v;
}

/* Entries of the matrix in no order; the same place may come several times. */
typedef struct {
    int count;
    int *restrict row;
    int *restrict column;
    double *restrict value;
} triples;

static triples allocate_triples(int count) {
    return (triples){count, npb_allocate(count, sizeof(int)), npb_allocate(count, sizeof(int)),
                     npb_allocate(count, sizeof(double))};
}

static void free_triples(triples t) {
    free(t.row);
    free(t.column);
    free(t.value);
}

static int count_in_block(const sparse_vector *v, const grid *g) {
    int rows = 0, columns = 0;
    for (int i = 0; i < v->count; i++) {
        rows += contains(g->my_rows, v->index[i]);
        columns += contains(g->my_columns, v->index[i]);
    }
    return rows * columns;
}

/* Adds the part of weight · v vᵀ that falls into my block. */
static void add_outer_product(triples *t, const grid *g, const sparse_vector *v, double weight) {
    for (int i = 0; i < v->count; i++) {
        if (!contains(g->my_rows, v->index[i])) continue;
        for (int j = 0; j < v->count; j++) {
            if (!contains(g->my_columns, v->index[j])) continue;
            t->row[t->count] = v->index[i] - g->my_rows.first;
            t->column[t->count] = v->index[j] - g->my_columns.first;
            t->value[t->count++] = v->value[i] * weight * v->value[j];
        }
    }
}

static void add_to_diagonal(triples *t, const grid *g, int index, double value) {
    if (!contains(g->my_rows, index) || !contains(g->my_columns, index)) return;
    t->row[t->count] = index - g->my_rows.first;
    t->column[t->count] = index - g->my_columns.first;
    t->value[t->count++] = value;
}

/* A stable counting sort by `key`, which is one of the index arrays of `from`. */
static triples sort_triples(triples from, const int *restrict key, int keys) {
    triples to = allocate_triples(from.count);
    int *next = npb_allocate((size_t)keys + 1, sizeof(int));
    for (int i = 0; i < from.count; i++) next[key[i] + 1]++;
    for (int k = 0; k < keys; k++) next[k + 1] += next[k];
    for (int i = 0; i < from.count; i++) {
        int at = next[key[i]]++;
        to.row[at] = from.row[i];
        to.column[at] = from.column[i];
        to.value[at] = from.value[i];
    }
    free(next);
    free_triples(from);
    return to;
}

/* Takes triples in order of rows and columns, and adds up those of one place, which are neighbours now. */
static matrix compress(triples t, int rows) {
    matrix a = {rows, npb_allocate((size_t)rows + 1, sizeof(int)), t.column, t.value};
    int count = 0, row = 0;
    for (int i = 0; i < t.count; i++) {
        while (row < t.row[i]) a.start[++row] = count;
        bool same = count > a.start[row] && a.column[count - 1] == t.column[i];
        if (same) {
            a.value[count - 1] += t.value[i];
        } else {
            a.column[count] = t.column[i];
            a.value[count++] = t.value[i];
        }
    }
    while (row < rows) a.start[++row] = count;
    free(t.row);
    return a;
}

/*
 * The matrix is a sum of outer products with falling weights, and 0.1 − shift on the diagonal. All ranks run through the
 * same random numbers and keep what is in their block.
 */
static matrix make_matrix(const problem *p, const grid *g) {
    uint64_t random = npb_random_skip(NPB_SEED, 1);
    sparse_vector *v = npb_allocate(p->n, sizeof(sparse_vector));
    int count = length(g->my_rows);
    for (int i = 0; i < p->n; i++) {
        v[i] = make_vector(&random, p, i);
        count += count_in_block(&v[i], g);
    }

    triples t = allocate_triples(count);
    t.count = 0;
    double weight = 1, ratio = pow(condition, 1.0 / p->n);
    for (int i = 0; i < p->n; i++) {
        add_outer_product(&t, g, &v[i], weight);
        add_to_diagonal(&t, g, i, condition - p->shift);
        weight *= ratio;
    }
    free(v);
    t = sort_triples(t, t.column, length(g->my_columns));
    t = sort_triples(t, t.row, length(g->my_rows));
    return compress(t, length(g->my_rows));
}

/* Four sums, because one would wait for every addition to finish before it can start the next. */
static void multiply_block(const matrix *a, const double *restrict x, double *restrict y) {
    const int *restrict column = a->column;
    const double *restrict value = a->value;
    for (int row = 0; row < a->rows; row++) {
        int k = a->start[row], end = a->start[row + 1];
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (; k + 3 < end; k += 4) {
            s0 += value[k] * x[column[k]];
            s1 += value[k + 1] * x[column[k + 1]];
            s2 += value[k + 2] * x[column[k + 2]];
            s3 += value[k + 3] * x[column[k + 3]];
        }
        for (; k < end; k++) s0 += value[k] * x[column[k]];
        y[row] = (s0 + s1) + (s2 + s3);
    }
}

static void add_to(int n, double *restrict to, const double *restrict from) {
    for (int i = 0; i < n; i++) to[i] += from[i];
}

/* to ← a + factor · b. The result may be one of the two. */
static void combine(int n, double *to, const double *a, double factor, const double *b) {
    for (int i = 0; i < n; i++) to[i] = a[i] + factor * b[i];
}

static double dot(int n, const double *restrict a, const double *restrict b, MPI_Comm row_ranks) {
    double even = 0, odd = 0, all;
    int i = 0;
    for (; i + 1 < n; i += 2) {
        even += a[i] * b[i];
        odd += a[i + 1] * b[i + 1];
    }
    if (i < n) even += a[i] * b[i];
    double mine = even + odd;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, row_ranks);
    return all;
}

static void exchange(const double *out, int out_count, double *in, int in_count, int partner, MPI_Comm comm) {
    MPI_Request request;
    MPI_Irecv(in, in_count, MPI_DOUBLE, partner, 1, comm, &request);
    MPI_Send(out, out_count, MPI_DOUBLE, partner, 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Adds up the partial sums of a grid row, by exchanges over half the row, a quarter, and so on. */
static void add_up_row(const grid *g, vectors *v) {
    int rows = length(g->my_rows);
    int distance = g->columns / 2;
    for (; distance > (g->is_square ? 0 : 1); distance /= 2) {
        exchange(v->sums, rows, v->received, rows, g->column ^ distance, g->row_ranks);
        add_to(rows, v->sums, v->received);
    }
    if (distance == 0) return;
    double *kept = v->sums + g->kept.first;
    exchange(v->sums + g->given.first, length(g->given), v->received, length(g->kept), g->column ^ 1, g->row_ranks);
    add_to(length(g->kept), kept, v->received);
}

/* y ← A x */
static void multiply(const matrix *a, const grid *g, vectors *v, const double *x, double *y) {
    multiply_block(a, x, v->sums);
    add_up_row(g, v);
    exchange(v->sums + g->kept.first, length(g->kept), y, length(g->my_columns), g->transposed, MPI_COMM_WORLD);
}

/* Solves A z = x roughly; the result is the norm of what is left over. */
static double solve(const matrix *a, const grid *g, vectors *v) {
    int n = length(g->my_columns);
    memset(v->z, 0, n * sizeof(double));
    memcpy(v->r, v->x, n * sizeof(double));
    memcpy(v->p, v->x, n * sizeof(double));
    double rho = dot(n, v->r, v->r, g->row_ranks);
    for (int step = 0; step < SOLVER_STEPS; step++) {
        multiply(a, g, v, v->p, v->q);
        double alpha = rho / dot(n, v->p, v->q, g->row_ranks);
        combine(n, v->z, v->z, alpha, v->p);
        combine(n, v->r, v->r, -alpha, v->q);
        double rho_before = rho;
        rho = dot(n, v->r, v->r, g->row_ranks);
        combine(n, v->p, v->r, rho / rho_before, v->p);
    }
    multiply(a, g, v, v->z, v->q);
    combine(n, v->r, v->x, -1, v->q);
    return sqrt(dot(n, v->r, v->r, g->row_ranks));
}

typedef struct {
    double zeta, residual;
} estimate;

/* One step of inverse iteration: the estimate of the eigenvalue, and in x the next vector. */
static estimate iterate(const matrix *a, const grid *g, vectors *v, double shift) {
    int n = length(g->my_columns);
    double residual = solve(a, g, v);
    double zeta = shift + 1 / dot(n, v->x, v->z, g->row_ranks);
    double scale = 1 / sqrt(dot(n, v->z, v->z, g->row_ranks));
    for (int i = 0; i < n; i++) v->x[i] = scale * v->z[i];
    return (estimate){zeta, residual};
}

static vectors make_vectors(const grid *g) {
    int rows = length(g->my_rows), columns = length(g->my_columns);
    vectors v = {.sums = npb_allocate(rows, sizeof(double)), .received = npb_allocate(rows, sizeof(double))};
    double **all[] = {&v.x, &v.z, &v.p, &v.q, &v.r};
    for (int i = 0; i < 5; i++) *all[i] = npb_allocate(columns, sizeof(double));
    return v;
}

static void set_ones(const grid *g, vectors *v) {
    for (int i = 0; i < length(g->my_columns); i++) v->x[i] = 1;
}

static double count_operations(const problem *p) {
    double entries = p->entries * (p->entries + 1);
    return 2.0 * OUTER_STEPS * p->n * (3 + entries + SOLVER_STEPS * (5 + entries) + 3);
}

int main(int argc, char **argv) {
    npb_run run = npb_start(&argc, &argv, "CG");
    const problem *p = &problems[run.problem];
    npb_need_power_of_two(&run, 1024);
    grid g = make_grid(&run, p->n);
    matrix a = make_matrix(p, &g);
    vectors v = make_vectors(&g);

    /* The specification wants one step outside of the time, to touch everything. */
    set_ones(&g, &v);
    iterate(&a, &g, &v, p->shift);
    set_ones(&g, &v);

    estimate e = {0};
    double start = npb_clock_start();
    for (int step = 0; step < OUTER_STEPS; step++) e = iterate(&a, &g, &v, p->shift);
    double seconds = MPI_Wtime() - start;

    npb_check checks[] = {{"zeta", e.zeta, p->zeta}};
    npb_result result = {.iterations = OUTER_STEPS,
                         .seconds = seconds,
                         .operations = count_operations(p),
                         .epsilon = 1e-10,
                         .check_count = 1,
                         .checks = checks};
    snprintf(result.size, sizeof result.size, "%d rows", p->n);
    snprintf(result.detail, sizeof result.detail, "Residual: %.3e", e.residual);
    return npb_finish(&run, &result);
}
