/*
 * An agreement of all ranks, beside an allreduce by messages: a nonblocking one, which never goes through shared memory.
 *
 *   agree <batches> <warm-up batches> <rounds per batch>
 *
 * Prints: sample agree_us <ranks> <one figure per batch>, and the same for iallreduce_us.
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double agreements(int rounds) {
  double start = MPI_Wtime();
  for (int i = 0; i < rounds; i++) {
    int flag = 1;
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
  }
  return (MPI_Wtime() - start) / rounds * 1e6;
}

static double allreduces(int rounds) {
  double start = MPI_Wtime();
  for (int i = 0; i < rounds; i++) {
    int mine = 1, all;
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return (MPI_Wtime() - start) / rounds * 1e6;
}

static void sample(const char *metric, double (*measure)(int), char **argv) {
  int rank, size, batches = atoi(argv[1]), warm = atoi(argv[2]), rounds = atoi(argv[3]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *us = malloc(batches * sizeof(double));
  for (int batch = -warm; batch < batches; batch++) {
    double one = measure(rounds);
    if (batch >= 0) us[batch] = one;
  }
  if (rank == 0) {
    printf("sample %s %d", metric, size);
    for (int batch = 0; batch < batches; batch++) printf(" %.4f", us[batch]);
    printf("\n");
  }
  free(us);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  sample("iallreduce_us", allreduces, argv);
  sample("agree_us", agreements, argv);
  MPI_Finalize();
}
