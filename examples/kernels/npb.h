/*
 * What the kernels of the NAS Parallel Benchmarks share: random numbers, command line, time and report.
 *
 * A kernel calls npb_start, computes, and ends with `return npb_finish(…)`, which prints the result on rank 0 and says on
 * every rank whether it is the published one. Exit codes: 0 verified, 1 not verified, 2 refused to run.
 */
#ifndef NPB_H
#define NPB_H

#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Random numbers: x ← 5¹³ x mod 2⁴⁶, and the number is x / 2⁴⁶. Products wrap modulo 2⁶⁴, which leaves the low 46 bits
 * right, so that one multiplication of integers gives what the specification computes from halves of doubles.
 */
#define NPB_MULTIPLIER UINT64_C(1220703125)
#define NPB_SEED UINT64_C(314159265)
#define NPB_RANDOM_MASK ((UINT64_C(1) << 46) - 1)

static inline double npb_random(uint64_t *state) {
    *state = *state * NPB_MULTIPLIER & NPB_RANDOM_MASK;
    return (double)(int64_t)*state * 0x1p-46;
}

static inline void npb_random_fill(uint64_t *state, int count, double *restrict numbers) {
    uint64_t x = *state;
    for (int i = 0; i < count; i++) numbers[i] = npb_random(&x);
    *state = x;
}

/* The state after so many numbers: how a rank starts in the middle of the one sequence that all of them share. */
static inline uint64_t npb_random_skip(uint64_t state, uint64_t count) {
    for (uint64_t power = NPB_MULTIPLIER; count > 0; count >>= 1, power *= power) {
        if (count & 1) state *= power;
    }
    return state & NPB_RANDOM_MASK;
}

/* One run of a kernel. `problem` numbers the class in the kernel's own table: 0 is S, 1 is W, 2 is A. */
typedef struct {
    const char *name;
    int rank, ranks;
    int problem;
    /* How often it is solved; the time is that of one. */
    int times;
} npb_run;

#define NPB_CLASSES "SWA"

/* Every rank calls it, with the same words, and the program ends. The others wait: the first to leave ends the job. */
_Noreturn static inline void npb_refuse(const npb_run *run, const char *format, ...) {
    if (run->rank == 0) {
        char reason[256];
        va_list words;
        va_start(words, format);
        vsnprintf(reason, sizeof reason, format, words);
        va_end(words);
        fprintf(stderr, "Cannot run %s: %s\n", run->name, reason);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(2);
}

/* `often`: may a second argument say how often the problem is solved? For whoever wants to watch it for longer. */
static inline npb_run npb_start_with(int *argc, char ***argv, const char *name, bool often) {
    npb_run run = {.name = name, .times = 1};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);

    const char *wanted = *argc > 1 ? (*argv)[1] : "S";
    const char *found = strlen(wanted) == 1 ? strchr(NPB_CLASSES, wanted[0]) : NULL;
    if (*argc > (often ? 3 : 2)) {
        npb_refuse(&run, often ? "%d arguments were given, there are two: the class, S, W or A, and how often it is solved"
                               : "%d arguments were given, the only one is the class: S, W or A", *argc - 1);
    }
    if (!found) npb_refuse(&run, "there is no class \"%.20s\", the classes are S, W and A", wanted);
    run.problem = (int)(found - NPB_CLASSES);
    if (*argc > 2) run.times = atoi((*argv)[2]);
    if (run.times < 1) npb_refuse(&run, "\"%.20s\" is not how often a problem can be solved", (*argv)[2]);
    return run;
}

static inline npb_run npb_start(int *argc, char ***argv, const char *name) {
    return npb_start_with(argc, argv, name, false);
}

/* Halving a problem again and again is how most kernels deal it out. */
static inline void npb_need_power_of_two(const npb_run *run, int ranks_max) {
    bool power = (run->ranks & (run->ranks - 1)) == 0;
    if (!power) npb_refuse(run, "%d ranks were given, it needs a power of two", run->ranks);
    if (run->ranks > ranks_max) {
        npb_refuse(run, "%d ranks were given, class %c has work for %d", run->ranks, NPB_CLASSES[run->problem], ranks_max);
    }
}

static inline void *npb_allocate(size_t count, size_t bytes_each) {
    void *memory = calloc(count ? count : 1, bytes_each);
    if (memory) return memory;
    fprintf(stderr, "Cannot allocate %.0f MB: a rank has not that much, give it more or run on more ranks\n",
            (double)count * (double)bytes_each / 1e6);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

/* Time runs from a moment that all ranks share; npb_finish takes the longest. */
static inline double npb_clock_start(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* A number of the result beside the published one. What rank 0 computed counts. */
typedef struct {
    char what[24];
    double computed, reference;
} npb_check;

typedef struct {
    char size[64];
    /* A further line of the report, or empty. */
    char detail[80];
    int iterations;
    double seconds;
    /* Operations of the whole run, as the specification counts them. */
    double operations;
    /* Largest relative error. */
    double epsilon;
    int check_count;
    const npb_check *checks;
} npb_result;

/* Written so that a NaN is not near anything. */
static inline bool npb_is_near(const npb_check *check, double epsilon) {
    return fabs(check->computed - check->reference) <= epsilon * fabs(check->reference);
}

static inline void npb_print(const npb_run *run, const npb_result *result, double seconds, bool verified) {
    printf("Kernel: %s\nClass: %c\nSize: %s\n", run->name, NPB_CLASSES[run->problem], result->size);
    printf("Ranks: %d\nIterations: %d\n", run->ranks, result->iterations);
    printf("Seconds: %.4f\nMop/s: %.2f\n", seconds, result->operations / seconds * 1e-6);
    if (result->detail[0]) printf("%s\n", result->detail);
    printf("Verification: %s\n", verified ? "SUCCESSFUL" : "FAILED");
    for (int i = 0; i < result->check_count; i++) {
        const npb_check *check = &result->checks[i];
        printf("  %-18s computed %-22.14g reference %.14g%s\n", check->what, check->computed, check->reference,
               npb_is_near(check, result->epsilon) ? "" : "  (wrong)");
    }
}

static inline int npb_finish(const npb_run *run, const npb_result *result) {
    double seconds = 0;
    MPI_Reduce(&result->seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int verified = 1;
    for (int i = 0; i < result->check_count; i++) verified &= npb_is_near(&result->checks[i], result->epsilon);
    if (run->rank == 0) npb_print(run, result, seconds, verified);
    MPI_Bcast(&verified, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return verified ? 0 : 1;
}

#endif
