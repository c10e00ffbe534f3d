/*
 * What the kernels of this folder share: reading the command line, the block of results, and how a program ends.
 *
 * Every kernel ends with 0 if its result was verified, with 1 if it was not, and with 2 and one line on stderr if it was
 * started in a way that it cannot work with. All ranks call all of these functions, except where a comment says otherwise.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
    const char *name;
    const char *usage; /* the arguments, as a line of help writes them */
    int rank, ranks;
    int argc;
    char **argv;
};

/* An optional whole number of the command line: its place, what a message calls it, and what it may be. */
struct option {
    int position;
    const char *name;
    int otherwise, min, max;
};

/* What a verification compared. */
struct verdict {
    double computed, reference;
    bool verified;
};

static inline struct kernel kernel_start(int *argc, char ***argv, const char *name, const char *usage) {
    struct kernel kernel = {.name = name, .usage = usage};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &kernel.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &kernel.ranks);
    kernel.argc = *argc;
    kernel.argv = *argv;
    return kernel;
}

/* Ends the program with code 2. The barrier lets the line out before the first rank's code ends the job. */
_Noreturn static inline void kernel_refuse(const struct kernel *kernel, const char *format, ...) {
    if (kernel->rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: ", kernel->name);
        vfprintf(stderr, format, arguments);
        fprintf(stderr, "; usage: %s %s\n", kernel->name, kernel->usage);
        fflush(stderr);
        va_end(arguments);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(2);
}

static inline void kernel_arguments_max(const struct kernel *kernel, int count) {
    if (kernel->argc > count + 1) {
        kernel_refuse(kernel, "cannot use argument \"%s\": at most %d wanted", kernel->argv[count + 1], count);
    }
}

static inline int kernel_option(const struct kernel *kernel, struct option option) {
    if (option.position >= kernel->argc) return option.otherwise;
    const char *text = kernel->argv[option.position];
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < option.min || value > option.max) {
        kernel_refuse(kernel, "cannot use %s \"%s\": a whole number from %d to %d wanted", option.name, text, option.min,
                      option.max);
    }
    return (int)value;
}

/* Memory that is all zero. A rank without memory ends the job: the others could not go on without it. */
static inline void *kernel_allocate(size_t count, size_t bytes) {
    void *memory = calloc(count > 0 ? count : 1, bytes);
    if (memory == NULL) {
        fprintf(stderr, "cannot allocate %zu values of %zu bytes: choose a smaller size or more ranks\n", count, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static inline double *kernel_doubles(size_t count) { return kernel_allocate(count, sizeof(double)); }

/* Seconds, read when all ranks are here. */
static inline double kernel_clock(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static inline double kernel_reduce(double mine, MPI_Op operation) {
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return all;
}

/* One line of the block of results. */
static inline void kernel_line(const struct kernel *kernel, const char *label, const char *format, ...) {
    if (kernel->rank != 0) return;
    va_list arguments;
    va_start(arguments, format);
    printf("  %-14s", label);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

static inline void kernel_title(const struct kernel *kernel, const char *what) {
    if (kernel->rank == 0) printf("%s: %s\n", kernel->name, what);
}

/* Prints the last line of the block and ends MPI; returns the program's exit code. Rank 0 decides. */
static inline int kernel_end(const struct kernel *kernel, int verified) {
    MPI_Bcast(&verified, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (kernel->rank == 0) printf("  Verification: %s\n", verified ? "SUCCESSFUL" : "FAILED");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return verified ? 0 : 1;
}

/* The same for a result that is a number. */
static inline int kernel_finish(const struct kernel *kernel, struct verdict verdict) {
    kernel_line(kernel, "computed", "%.13e", verdict.computed);
    kernel_line(kernel, "reference", "%.13e", verdict.reference);
    return kernel_end(kernel, verdict.verified);
}

/* The same for a checksum, where all digits have to agree. Rank 0 alone has to know it. */
static inline int kernel_finish_checksum(const struct kernel *kernel, uint64_t computed, uint64_t reference, bool is_rest_right) {
    kernel_line(kernel, "computed", "%016" PRIx64, computed);
    kernel_line(kernel, "reference", "%016" PRIx64, reference);
    return kernel_end(kernel, computed == reference && is_rest_right);
}

/* Every bit of the result depends on every bit given. */
static inline uint64_t hash_bits(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* Share of rank `part` of `parts` when `count` things are dealt out evenly: the first ones take one more. */
static inline int share_count(int count, int parts, int part) { return count / parts + (part < count % parts); }

static inline int share_first(int count, int parts, int part) {
    int extra = count % parts;
    return part * (count / parts) + (part < extra ? part : extra);
}

#endif
