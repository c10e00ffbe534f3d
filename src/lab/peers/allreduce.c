/*
 * One double summed over all ranks, the C twin of programs/allreduce.ts.
 *
 *   allreduce <batches> <warm-up batches> <rounds per batch>
 *
 * Prints: sample allreduce_us <ranks> <one figure per batch>, the time of one allreduce as rank 0 sees it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int batches = atoi(argv[1]), warm = atoi(argv[2]), rounds = atoi(argv[3]);
  double mine = rank, sum = 0;
  if (rank == 0) printf("sample allreduce_us %d", ranks);
  for (int batch = -warm; batch < batches; batch++) {
    double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && batch >= 0) printf(" %.4f", (MPI_Wtime() - start) / rounds * 1e6);
  }
  if (sum != ranks * (ranks - 1) / 2.0) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0) printf("\n");
  MPI_Finalize();
}
