/* All ranks meet, and rank 0 says how many they are; the twin of hello.ts. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks\n", ranks);
  MPI_Finalize();
}
