/*
 * A program whose rank 0 has much memory, of which some changes, for as long as it is let: to be cloned. A number of pages in each step, not in each second:
 * replicas read different clocks, and must do the same.
 *
 *   cloned <MiB> <percent of its pages that change in a second> <steps>
 *
 * Prints: at work. A step takes ten milliseconds and a little more.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096, STEPS_PER_SECOND = 100 };

/* Marsaglia's xorshift. */
static uint64_t next(uint64_t x) {
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  size_t bytes = rank == 0 ? (size_t)atoi(argv[1]) * MIB : PAGE, pages = bytes / PAGE;
  double perStep = pages * atof(argv[2]) / 100 / STEPS_PER_SECOND, owed = 0;
  long steps = atol(argv[3]);
  uint64_t *words = malloc(bytes), x = 88172645463325252u, page = x;
  if (words == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = x = next(x);
  int value = 0, all;
  for (long step = 0; step < steps; step++) {
    if (step == 10 && rank == 0) {
      printf("at work\n");
      fflush(stdout);
    }
    for (owed += perStep; owed >= 1; owed--) words[(page = next(page)) % pages * (PAGE / sizeof *words)]++;
    usleep(1000000 / STEPS_PER_SECOND);
    MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  free(words);
  MPI_Finalize();
}
