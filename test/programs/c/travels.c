/*
 * A program whose images are kept in test/images, one of each architecture, and thawed on all of them. What an architecture
 * could do its own way is in use when it is frozen: the order of bytes, bits of doubles that are no numbers, pointers to
 * functions, the stack, objects of MPI. Its last line is the same wherever it was frozen and wherever it was thawed.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static MPI_Comm backwards;
static MPI_Datatype pair;
static MPI_Op mix;

static double halve(double x) { return x / 2 + 1; }
static double third(double x) { return x / 3 - 1; }
static double (*const steps[])(double) = {halve, third};

static void mix_bits(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    const uint64_t *a = in;
    uint64_t *b = inout;
    for (int i = 0; i < *length; i++) b[i] = (a[i] * 0x9e3779b97f4a7c15u) ^ (b[i] << 7 | b[i] >> 57);
}

/* Messages at the bottom of a stack. */
static uint64_t down(int depth, uint64_t bits) {
    volatile uint64_t here = bits + (uint64_t)depth;
    if (depth > 0) return down(depth - 1, bits * 31) ^ here;
    uint64_t all = 0;
    MPI_Allreduce(&bits, &all, 1, MPI_UINT64_T, mix, backwards);
    return all + here;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? atoi(argv[1]) : 50;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(mix_bits, 0, &mix);

    const uint64_t not_a_number = 0x7ff4dead0000beefu;
    double *values = malloc(32 * sizeof *values);
    for (int i = 0; i < 32; i++) values[i] = 1.0 / (rank + i + 1);
    values[1] = -0.0, values[2] = 5e-324;
    memcpy(&values[3], &not_a_number, sizeof not_a_number);
    char text[] = "bytes in this order";

    uint64_t bits = 0x0123456789abcdefu ^ (uint64_t)rank;
    for (int round = 1; round <= rounds; round++) {
        double mine[2] = {steps[round % 2](values[round % 28 + 4]), round}, theirs[2];
        MPI_Sendrecv(mine, 1, pair, (rank + 1) % size, 3, theirs, 1, pair, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        values[round % 28 + 4] = theirs[0] + theirs[1] / 7;
        bits = down(10 + round % 3, bits ^ (uint64_t)text[round % (int)strlen(text)]);
        if (rank == 0) printf("round %d\n", round), fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 32; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        bits = (bits ^ word) * 0x100000001b3u;
    }
    uint64_t all;
    MPI_Reduce(&bits, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("bits %016llx\n", (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
