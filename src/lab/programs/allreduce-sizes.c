/*
 * An allreduce of doubles, for one length after the other.
 *
 *   allreduce-sizes <metric> <batches> <warm-up batches> <bytes>:<rounds per batch> ...
 *
 * Prints for each length: sample <metric> <bytes> <one figure per batch>, the time of one allreduce in µs as rank 0 sees it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int batches = atoi(argv[2]), warm = atoi(argv[3]);
  for (int arg = 4; arg < argc; arg++) {
    int bytes = atoi(argv[arg]), rounds = atoi(strchr(argv[arg], ':') + 1), count = bytes / (int)sizeof(double);
    double *mine = malloc(bytes), *sum = malloc(bytes);
    if (mine == NULL || sum == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < count; i++) mine[i] = rank + i;
    if (rank == 0) printf("sample %s %d", argv[1], bytes);
    for (int batch = -warm; batch < batches; batch++) {
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      for (int i = 0; i < rounds; i++) MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (rank == 0 && batch >= 0) printf(" %.4f", (MPI_Wtime() - start) / rounds * 1e6);
    }
    if (sum[count - 1] != ranks * (ranks - 1) / 2.0 + (double)ranks * (count - 1)) MPI_Abort(MPI_COMM_WORLD, 4);
    if (rank == 0) printf("\n");
    free(mine);
    free(sum);
  }
  MPI_Finalize();
}
