/*
 * One collective, again and again: what it sends is counted elsewhere.
 *
 *   collective bcast|reduce|allreduce <bytes> <rounds>
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  int bytes = atoi(argv[2]), rounds = atoi(argv[3]), count = bytes / (int)sizeof(float);
  float *from = calloc(count, sizeof(float)), *to = calloc(count, sizeof(float));
  if (from == NULL || to == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < rounds; i++) {
    if (strcmp(argv[1], "bcast") == 0) MPI_Bcast(to, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else if (strcmp(argv[1], "reduce") == 0) MPI_Reduce(from, to, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (strcmp(argv[1], "allreduce") == 0) MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
