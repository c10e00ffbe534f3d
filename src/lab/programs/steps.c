/*
 * A program that has much memory and goes on step by step: computes on a part of its memory and exchanges 1 KiB with both
 * neighbours on a ring, so that nobody gets further without all others.
 *
 *   steps <MiB> <steps, 0: for ever> <passes over 64 KiB in a step> <steps between two time stamps, 0: none> [<percent, 100>]
 *
 * Steps go round the first so many percent of the memory; the rest stays as it is.
 *
 * The memory holds what cannot be compressed. Rank 0 prints its time stamps, sample step_ms <step> <milliseconds since 1970>,
 * and at the end sample steps_s <steps> <seconds>, if what all ranks have computed is what it should be.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MIB = 1 << 20, PART = 8192, EXCHANGED = 128, TAG = 3 };

static double nowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* Marsaglia's xorshift. */
static void fill(uint64_t *words, size_t count, int rank) {
  uint64_t x = 88172645463325252u + (uint64_t)rank;
  for (size_t i = 0; i < count; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    words[i] = x;
  }
}

/* Every word of a part grows by one in each pass. */
static void compute(uint64_t *part, int passes) {
  for (int pass = 0; pass < passes; pass++) {
    for (int i = 0; i < PART; i++) part[i]++;
    __asm__ volatile("" : : "r"(part) : "memory");
  }
}

static uint64_t sum(const uint64_t *words, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++) all += words[i];
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  long steps = atol(argv[2]);
  int passes = atoi(argv[3]), every = atoi(argv[4]), rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  size_t parts = (size_t)atoi(argv[1]) * (MIB / sizeof(uint64_t)) / PART, count = (parts + 1) * PART;
  long changing = argc > 5 ? (long)(parts + 1) * atoi(argv[5]) / 100 : (long)(parts + 1);
  if (changing < 1) changing = 1;
  uint64_t *words = malloc(count * sizeof(uint64_t));
  static uint64_t out[EXCHANGED], in[EXCHANGED];
  if (words == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  fill(words, count, rank);
  uint64_t before = sum(words, count);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (long step = 0; steps == 0 || step < steps; step++) {
    compute(words + step % changing * PART, passes);
    out[0] = (uint64_t)step;
    MPI_Sendrecv(out, EXCHANGED, MPI_UINT64_T, right, TAG, in, EXCHANGED, MPI_UINT64_T, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[0] != (uint64_t)step) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Sendrecv(out, EXCHANGED, MPI_UINT64_T, left, TAG, in, EXCHANGED, MPI_UINT64_T, right, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[0] != (uint64_t)step) MPI_Abort(MPI_COMM_WORLD, 4);
    if (rank == 0 && every > 0 && step % every == 0) {
      printf("sample step_ms %ld %.3f\n", step, nowMs());
      fflush(stdout);
    }
  }
  double seconds = MPI_Wtime() - start;
  int right_here = sum(words, count) - before == (uint64_t)steps * (uint64_t)passes * PART, right_everywhere = 0;
  MPI_Reduce(&right_here, &right_everywhere, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
  if (rank == 0 && !right_everywhere) MPI_Abort(MPI_COMM_WORLD, 5);
  if (rank == 0) printf("sample steps_s %ld %.6f\n", steps, seconds);
  MPI_Finalize();
}
