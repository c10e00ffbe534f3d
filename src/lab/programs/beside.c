/*
 * A program whose rank 0 has much memory, of which some changes, for as long as it is let: to be cloned. The others compute meanwhile, and have nothing to do with
 * it; a line for each piece of their work says how fast they are.
 *
 *   beside <MiB> <percent of the pages that change in a second>
 *
 * Prints: at work, when rank 0 is; worked, again and again. A piece of work takes some ten milliseconds: lines cost the node and the dispatcher time, too.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE = 4096, STEPS_PER_SECOND = 100, PIECE = 6000000 };

/* Marsaglia's xorshift. */
static uint64_t next(uint64_t x) {
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}

static void change(size_t bytes, double percent) {
  size_t pages = bytes / PAGE;
  double perStep = pages * percent / 100 / STEPS_PER_SECOND, owed = 0;
  uint64_t *words = malloc(bytes), x = 88172645463325252u, page = x;
  if (words == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = x = next(x);
  printf("at work\n");
  fflush(stdout);
  for (;;) {
    int there;
    for (owed += perStep; owed >= 1; owed--) words[(page = next(page)) % pages * (PAGE / sizeof *words)]++;
    usleep(1000000 / STEPS_PER_SECOND);
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
}

static void work(void) {
  volatile uint64_t result;
  for (uint64_t x = 88172645463325252u;;) {
    int there;
    for (int i = 0; i < PIECE; i++) x = next(x);
    result = x;
    printf("worked\n");
    fflush(stdout);
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) change((size_t)atoi(argv[1]) * MIB, atof(argv[2]));
  else work();
}
