/* Rank 0 receives from anybody, and everybody is told in which order: all ranks print the same. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 6 };

int main(int argc, char **argv) {
  int rank, size;
  unsigned hash = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < ROUNDS; round++) {
    if (rank == 0) {
      for (int i = 1; i < size; i++) {
        unsigned value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_UNSIGNED, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        hash = hash * 31 + value * 7 + (unsigned)status.MPI_SOURCE;
      }
    } else {
      unsigned value = hash + (unsigned)rank;
      MPI_Send(&value, 1, MPI_UNSIGNED, 0, round, MPI_COMM_WORLD);
    }
    unsigned sum;
    MPI_Bcast(&hash, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&hash, &sum, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    printf("round %d of hash %u: %s\n", round, hash, sum == hash * (unsigned)size ? "all agree" : "they differ");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
