/*
 * Memory of all ranks together while they do nothing, the C twin of programs/memory.ts.
 *
 * Prints: sample pss_mb <ranks> <MB> and sample rss_mb <ranks> <MB>. The proportional set size counts a page that k
 * processes share 1/k in each of them, so libraries count once.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(300000);
  double mine[2] = {0, 0}, sum[2];
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    sscanf(line, "Pss: %lf", &mine[0]);
    sscanf(line, "Rss: %lf", &mine[1]);
  }
  fclose(file);
  MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("sample pss_mb %d %.3f\n", ranks, sum[0] * 1024 / 1e6);
    printf("sample rss_mb %d %.3f\n", ranks, sum[1] * 1024 / 1e6);
  }
  MPI_Finalize();
}
