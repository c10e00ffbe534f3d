/*
 * One collective of every length, again and again.
 *
 *   collectives <metric> barrier|bcast|reduce|allreduce|allgather|alltoall <batches> <warm-up batches> <bytes>:<rounds per batch> …
 *
 * The length is what one rank gives to one other: a part of an allgather or an alltoall. Sums are of floats. Prints, for each length:
 *
 *   sample <metric>_us <bytes> <one figure per batch>
 *
 * the time of one collective as rank 0 sees it, in microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *from, *to;

static void once(const char *kind, int bytes, int root) {
  int count = bytes / (int)sizeof(float);
  if (strcmp(kind, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  else if (strcmp(kind, "bcast") == 0) MPI_Bcast(to, count, MPI_FLOAT, root, MPI_COMM_WORLD);
  else if (strcmp(kind, "reduce") == 0) MPI_Reduce(from, to, count, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
  else if (strcmp(kind, "allreduce") == 0) MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  else if (strcmp(kind, "allgather") == 0) MPI_Allgather(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
  else if (strcmp(kind, "alltoall") == 0) MPI_Alltoall(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
  else MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 2);
  const char *metric = argv[1], *kind = argv[2];
  int batches = atoi(argv[3]), warm = atoi(argv[4]);
  for (int i = 5; i < argc; i++) {
    int bytes = atoi(argv[i]), rounds = atoi(strchr(argv[i], ':') + 1);
    from = calloc(bytes, ranks);
    to = calloc(bytes, ranks);
    if (from == NULL || to == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0) printf("sample %s_us %d", metric, bytes);
    for (int batch = -warm; batch < batches; batch++) {
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      // Roots change: otherwise those before the last would run ahead, and their time would be measured.
      for (int round = 0; round < rounds; round++) once(kind, bytes, round % ranks);
      if (rank == 0 && batch >= 0) printf(" %.4f", (MPI_Wtime() - start) / rounds * 1e6);
    }
    if (rank == 0) printf("\n");
    free(from);
    free(to);
  }
  MPI_Finalize();
}
