/* Agreements and shrunken communicators, again and again: under protocols that replace the dead they say what they say without failures. */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned seen = 0;
  for (int round = 0; round < rounds; round++) {
    int flags = ~(1 << ((rank * 7 + round) % 31));
    MPIX_Comm_agree(MPI_COMM_WORLD, &flags);
    seen = seen * 31 + (unsigned)flags;
    if (round % 10 != 0) continue;
    MPI_Comm shrunken;
    MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunken);
    int members, sum = 0;
    MPI_Comm_size(shrunken, &members);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, shrunken);
    seen = seen * 31 + (unsigned)(members * 1000 + sum);
    MPI_Comm_free(&shrunken);
  }
  unsigned all = 0;
  MPI_Reduce(&seen, &all, 1, MPI_UNSIGNED, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks agreed %d times: %08x\n", size, rounds, all + seen);
  MPI_Finalize();
  return 0;
}
