/* Each rank passes a large array around a ring, as it is, and prints sums of what has come: of its bits, so that each of them counts. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS (1 << 17)

static uint64_t mine[WORDS];
static uint64_t theirs[WORDS];

int main(int argc, char **argv) {
  int rank, size;
  int rounds = argc > 1 ? atoi(argv[1]) : 6;
  uint64_t sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double began = MPI_Wtime();
  for (int i = 0; i < WORDS; i++) mine[i] = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)rank;
  for (int round = 0; round < rounds; round++) {
    MPI_Sendrecv(mine, WORDS, MPI_UINT64_T, (rank + 1) % size, 6, theirs, WORDS, MPI_UINT64_T, (rank + size - 1) % size, 6,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; i++) sum = (sum << 1 | sum >> 63) + theirs[i];
  }
  /* Times are sent, as most programs do. */
  double took = MPI_Wtime() - began, longest = 0;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0 && longest < took) printf("a time is wrong\n");
  printf("rank %d: %016llx\n", rank, (unsigned long long)sum);
  MPI_Finalize();
  return 0;
}
