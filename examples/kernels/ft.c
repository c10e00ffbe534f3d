/*
 * FT: a diffusion equation in three periodic dimensions, solved in the space of frequencies: one Fourier transform there,
 * then for each step a multiplication and a transform back. Every transform moves the whole array between the ranks by one
 * all-to-all of large blocks.
 *
 *     banyan run -n 4 examples/kernels/ft.c A        1, 2, 4, 8 … ranks, at most one for each plane
 *
 * In space a rank holds planes of equal z, laid out [z][y][x], where lines along x and y are whole. In frequencies it holds
 * a band of y of all planes, [z][y][x] again, where lines along z are whole. So a block that travels is made of whole rows,
 * and on the side of frequencies the blocks of all ranks, one behind the other, already are the array.
 */
#include "npb.h"

enum { ITERATIONS = 6, LENGTH_MAX = 256, SAMPLES = 1024 };

/* Lines that are transformed together, side by side, so that all work is on neighbours in memory. */
enum { BATCH = 16 };

typedef struct {
    double re, im;
} complex_number;

typedef struct {
    int nx, ny, nz;
    complex_number checksums[ITERATIONS];
} problem;

static const problem problems[] = {
    {64, 64, 64,
     {{5.546087004964e2, 4.845363331978e2},
      {5.546385409189e2, 4.865304269511e2},
      {5.546148406171e2, 4.883910722336e2},
      {5.545423607415e2, 4.901273169046e2},
      {5.544255039624e2, 4.917475857993e2},
      {5.542683411902e2, 4.932597244941e2}}},
    {128, 128, 32,
     {{5.673612178944e2, 5.293246849175e2},
      {5.631436885271e2, 5.282149986629e2},
      {5.594024089970e2, 5.270996558037e2},
      {5.560698047020e2, 5.260027904925e2},
      {5.530898991250e2, 5.249400845633e2},
      {5.504159734538e2, 5.239212247086e2}}},
    {256, 256, 128,
     {{5.046735008193e2, 5.114047905510e2},
      {5.059412319734e2, 5.098809666433e2},
      {5.069376896287e2, 5.098144042213e2},
      {5.077892868474e2, 5.101336130759e2},
      {5.085233095391e2, 5.104914655194e2},
      {5.091487099959e2, 5.107917842803e2}}},
};

typedef struct {
    int rank, ranks;
    int nx, ny, nz;
    /* The planes and the band of this rank. */
    int planes, plane_first;
    int band, band_first;
    size_t count;

    complex_number *frequencies;
    complex_number *field;
    /* One side of every all-to-all. */
    complex_number *blocks;
    /* What one step of time leaves of each frequency. */
    double *decay;
} solver;

/* Real and imaginary parts apart: then the same operation applies to neighbours, as vector instructions want it. */
typedef struct {
    double re[LENGTH_MAX * BATCH], im[LENGTH_MAX * BATCH];
} lines;

/* exp(2πi k / LENGTH_MAX); a shorter transform takes every second of them, or every fourth, and so on. */
static complex_number roots[LENGTH_MAX];

static void make_roots(void) {
    for (int k = 0; k < LENGTH_MAX; k++) {
        double angle = 2 * acos(-1) * k / LENGTH_MAX;
        roots[k] = (complex_number){cos(angle), sin(angle)};
    }
}

/*
 * Stockham's transform, which needs no reversal of bits: a stage takes its inputs from one buffer in the distance of a
 * quarter of the whole and puts its outputs beside each other into another. Stages have radix 4, and the last one radix 2
 * where the length is no power of 4. `width` is how many numbers have the same factors and are done in one go; it starts as
 * the batch and is four times as large in each further stage.
 */
static void butterfly_4(int width, int quarter, const double *restrict re, const double *restrict im,
                        double *restrict to_re, double *restrict to_im, const complex_number w[4], double sign) {
    for (int i = 0; i < width; i++) {
        int i1 = i + quarter, i2 = i + 2 * quarter, i3 = i + 3 * quarter;
        double sum02_re = re[i] + re[i2], sum02_im = im[i] + im[i2];
        double dif02_re = re[i] - re[i2], dif02_im = im[i] - im[i2];
        double sum13_re = re[i1] + re[i3], sum13_im = im[i1] + im[i3];
        /* The difference times ±i. */
        double dif13_re = -sign * (im[i1] - im[i3]), dif13_im = sign * (re[i1] - re[i3]);

        double out1_re = dif02_re + dif13_re, out1_im = dif02_im + dif13_im;
        double out2_re = sum02_re - sum13_re, out2_im = sum02_im - sum13_im;
        double out3_re = dif02_re - dif13_re, out3_im = dif02_im - dif13_im;
        to_re[i] = sum02_re + sum13_re;
        to_im[i] = sum02_im + sum13_im;
        to_re[i + width] = out1_re * w[1].re - out1_im * w[1].im;
        to_im[i + width] = out1_re * w[1].im + out1_im * w[1].re;
        to_re[i + 2 * width] = out2_re * w[2].re - out2_im * w[2].im;
        to_im[i + 2 * width] = out2_re * w[2].im + out2_im * w[2].re;
        to_re[i + 3 * width] = out3_re * w[3].re - out3_im * w[3].im;
        to_im[i + 3 * width] = out3_re * w[3].im + out3_im * w[3].re;
    }
}

static void stage_4(int length, int width, const lines *restrict from, lines *restrict to, int sign) {
    int quarter = length / 4 * width;
    for (int p = 0; p < length / 4; p++) {
        complex_number w[4];
        for (int k = 1; k < 4; k++) {
            w[k] = roots[k * p * (LENGTH_MAX / length)];
            w[k].im *= sign;
        }
        int in = p * width, out = 4 * p * width;
        butterfly_4(width, quarter, from->re + in, from->im + in, to->re + out, to->im + out, w, sign);
    }
}

static void stage_2(int width, const lines *restrict from, lines *restrict to) {
    for (int i = 0; i < width; i++) {
        double re0 = from->re[i], im0 = from->im[i], re1 = from->re[i + width], im1 = from->im[i + width];
        to->re[i] = re0 + re1;
        to->im[i] = im0 + im1;
        to->re[i + width] = re0 - re1;
        to->im[i + width] = im0 - im1;
    }
}

/* Transforms a batch of lines in `work[0]` and says which of the two has the result. */
static const lines *transform_batch(lines work[2], int length, int sign) {
    lines *from = &work[0], *to = &work[1], *swap;
    int width = BATCH;
    for (; length >= 4; length /= 4, width *= 4) {
        stage_4(length, width, from, to, sign);
        swap = from, from = to, to = swap;
    }
    if (length == 1) return from;
    stage_2(width, from, to);
    return to;
}

/* How a batch lies in the array: the distance from one element of a line to the next, and from one line to the next. */
typedef struct {
    int length;
    size_t element, line;
} layout;

static void gather(layout l, const complex_number *restrict data, lines *restrict to) {
    for (int i = 0; i < l.length; i++) {
        for (int j = 0; j < BATCH; j++) {
            complex_number value = data[i * l.element + j * l.line];
            to->re[i * BATCH + j] = value.re;
            to->im[i * BATCH + j] = value.im;
        }
    }
}

static void scatter(layout l, const lines *restrict from, complex_number *restrict data) {
    for (int i = 0; i < l.length; i++) {
        for (int j = 0; j < BATCH; j++) {
            data[i * l.element + j * l.line] = (complex_number){from->re[i * BATCH + j], from->im[i * BATCH + j]};
        }
    }
}

static void transform_lines(layout l, complex_number *data, int sign) {
    static lines work[2];
    gather(l, data, &work[0]);
    scatter(l, transform_batch(work, l.length, sign), data);
}

/* Lines along x lie one behind the other, whatever plane they are of. */
static void transform_x(const solver *s, complex_number *data, int sign) {
    layout l = {s->nx, 1, s->nx};
    for (size_t at = 0; at < s->count; at += (size_t)s->nx * BATCH) transform_lines(l, data + at, sign);
}

/* Lines that start side by side, `starts` of them, so that this is also the distance from element to element. */
static void transform_across(int length, size_t starts, complex_number *data, int sign) {
    layout l = {length, starts, 1};
    for (size_t at = 0; at < starts; at += BATCH) transform_lines(l, data + at, sign);
}

static void transform_planes(const solver *s, complex_number *field, int sign) {
    size_t plane = (size_t)s->nx * s->ny;
    for (int z = 0; z < s->planes; z++) transform_across(s->ny, s->nx, field + z * plane, sign);
}

/* Copies between planes and blocks: block r has, of every plane, the rows that are in the band of rank r. */
static void copy_blocks(const solver *s, complex_number *field, bool to_field) {
    size_t rows = (size_t)s->band * s->nx;
    for (int r = 0; r < s->ranks; r++) {
        for (int z = 0; z < s->planes; z++) {
            complex_number *block = s->blocks + (r * (size_t)s->planes + z) * rows;
            complex_number *part = field + (z * (size_t)s->ranks + r) * rows;
            if (to_field) memcpy(part, block, rows * sizeof *part);
            else memcpy(block, part, rows * sizeof *part);
        }
    }
}

static void exchange_blocks(const solver *s, const complex_number *from, complex_number *to) {
    int doubles = (int)(s->count / s->ranks * 2);
    MPI_Alltoall(from, doubles, MPI_DOUBLE, to, doubles, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* From the field, which is used up, to the frequencies. */
static void transform_forward(solver *s) {
    transform_x(s, s->field, 1);
    transform_planes(s, s->field, 1);
    copy_blocks(s, s->field, false);
    exchange_blocks(s, s->blocks, s->frequencies);
    transform_across(s->nz, (size_t)s->band * s->nx, s->frequencies, 1);
}

/* Back, in place, without the division by the number of points. */
static void transform_back(solver *s) {
    transform_across(s->nz, (size_t)s->band * s->nx, s->field, -1);
    exchange_blocks(s, s->field, s->blocks);
    copy_blocks(s, s->field, true);
    transform_planes(s, s->field, -1);
    transform_x(s, s->field, -1);
}

/* The frequency at an index: the upper half of them are the negative ones. */
static int frequency(int index, int length) {
    return index < length / 2 ? index : index - length;
}

static void make_decay(solver *s) {
    const double alpha = 1e-6;
    double factor = -4 * alpha * acos(-1) * acos(-1);
    size_t at = 0;
    for (int z = 0; z < s->nz; z++) {
        for (int y = 0; y < s->band; y++) {
            int fz = frequency(z, s->nz), fy = frequency(s->band_first + y, s->ny);
            for (int x = 0; x < s->nx; x++) {
                int fx = frequency(x, s->nx);
                s->decay[at++] = exp(factor * (fx * fx + fy * fy + fz * fz));
            }
        }
    }
}

static void make_field(solver *s) {
    uint64_t plane = (uint64_t)s->nx * s->ny;
    uint64_t random = npb_random_skip(NPB_SEED, 2 * plane * s->plane_first);
    npb_random_fill(&random, (int)(2 * s->count), &s->field[0].re);
}

/* One step of time: the frequencies decay, and are copied to where they are transformed. */
static void evolve(size_t count, complex_number *restrict frequencies, const double *restrict decay,
                   complex_number *restrict copy) {
    for (size_t i = 0; i < count; i++) {
        frequencies[i].re *= decay[i];
        frequencies[i].im *= decay[i];
        copy[i] = frequencies[i];
    }
}

/* The sum of some points all over the field, on rank 0. */
static complex_number checksum(const solver *s) {
    complex_number mine = {0, 0}, all = {0, 0};
    for (int j = 1; j <= SAMPLES; j++) {
        int x = j % s->nx, y = 3 * j % s->ny, z = 5 * j % s->nz - s->plane_first;
        if (z < 0 || z >= s->planes) continue;
        complex_number value = s->field[((size_t)z * s->ny + y) * s->nx + x];
        mine.re += value.re;
        mine.im += value.im;
    }
    MPI_Reduce(&mine, &all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double points = (double)s->nx * s->ny * s->nz;
    return (complex_number){all.re / points, all.im / points};
}

static solver make_solver(const npb_run *run, const problem *p) {
    solver s = {.rank = run->rank, .ranks = run->ranks, .nx = p->nx, .ny = p->ny, .nz = p->nz};
    s.planes = p->nz / run->ranks;
    s.plane_first = s.planes * run->rank;
    s.band = p->ny / run->ranks;
    s.band_first = s.band * run->rank;
    s.count = (size_t)s.planes * p->ny * p->nx;
    s.frequencies = npb_allocate(s.count, sizeof *s.frequencies);
    s.field = npb_allocate(s.count, sizeof *s.field);
    s.blocks = npb_allocate(s.count, sizeof *s.blocks);
    s.decay = npb_allocate(s.count, sizeof *s.decay);
    return s;
}

static void start_in_frequencies(solver *s) {
    make_roots();
    make_decay(s);
    make_field(s);
    transform_forward(s);
}

static void solve(solver *s, complex_number checksums[ITERATIONS]) {
    start_in_frequencies(s);
    for (int step = 0; step < ITERATIONS; step++) {
        evolve(s->count, s->frequencies, s->decay, s->field);
        transform_back(s);
        checksums[step] = checksum(s);
    }
}

static double count_operations(const problem *p) {
    double points = (double)p->nx * p->ny * p->nz;
    return points * (14.8157 + 7.19641 * log(points) + (5.23518 + 7.21113 * log(points)) * ITERATIONS);
}

int main(int argc, char **argv) {
    npb_run run = npb_start_with(&argc, &argv, "FT", true);
    const problem *p = &problems[run.problem];
    npb_need_power_of_two(&run, p->nz);
    solver s = make_solver(&run, p);

    complex_number checksums[ITERATIONS];
    /* The specification wants one transform outside of the time, to touch everything. */
    start_in_frequencies(&s);
    double start = npb_clock_start();
    for (int time = 0; time < run.times; time++) solve(&s, checksums);
    double seconds = (MPI_Wtime() - start) / run.times;

    npb_check checks[2 * ITERATIONS];
    for (int i = 0; i < ITERATIONS; i++) {
        npb_check *re = &checks[2 * i], *im = re + 1;
        *re = (npb_check){.computed = checksums[i].re, .reference = p->checksums[i].re};
        *im = (npb_check){.computed = checksums[i].im, .reference = p->checksums[i].im};
        snprintf(re->what, sizeof re->what, "checksum %d, re", i + 1);
        snprintf(im->what, sizeof im->what, "checksum %d, im", i + 1);
    }
    npb_result result = {.iterations = ITERATIONS,
                         .seconds = seconds,
                         .operations = count_operations(p),
                         .epsilon = 1e-12,
                         .check_count = 2 * ITERATIONS,
                         .checks = checks};
    snprintf(result.size, sizeof result.size, "%d x %d x %d points", p->nx, p->ny, p->nz);
    return npb_finish(&run, &result);
}
