/*
 * The round trip to the event logger, by one rank: a reading of the clock is a choice, and what is printed after it waits until
 * the event logger has it. The same without message logging is what printing costs.
 *
 *   logger-trip <batches> <warm-up batches> <lines per batch>
 *
 * Prints many lines, and at the end: sample logger_us 1 <one figure per batch>.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double trip(int lines) {
  double start = MPI_Wtime(), now = start;
  for (int i = 0; i < lines; i++) {
    printf("tick\n");
    fflush(stdout);
    now = MPI_Wtime();
  }
  return (now - start) / lines * 1e6;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  int batches = atoi(argv[1]), warm = atoi(argv[2]), lines = atoi(argv[3]);
  double *us = malloc(batches * sizeof(double));
  for (int batch = -warm; batch < batches; batch++) {
    double one = trip(lines);
    if (batch >= 0) us[batch] = one;
  }
  printf("sample logger_us 1");
  for (int batch = 0; batch < batches; batch++) printf(" %.4f", us[batch]);
  printf("\n");
  MPI_Finalize();
}
