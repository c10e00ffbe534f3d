/*
 * Half round trips between two ranks, with receives from a named source or from any: the C twin of programs/ping-pong.ts.
 *
 *   ping-pong <metric> named|any <batches> <warm-up batches> <bytes>:<round trips per batch> ...
 *
 * One buffer is sent and received on both sides. Prints one line per size: sample <metric> <bytes> <one figure per batch>.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 3 };

static int source;

static double halfRoundTrip(char *buffer, int bytes, int rank, int rounds) {
  double start = MPI_Wtime();
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(buffer, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / rounds / 2 * 1e6;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 2);
  source = strcmp(argv[2], "any") == 0 ? MPI_ANY_SOURCE : 1 - rank;
  int batches = atoi(argv[3]), warm = atoi(argv[4]);
  for (int i = 5; i < argc; i++) {
    int bytes = 0, rounds = 0;
    if (sscanf(argv[i], "%d:%d", &bytes, &rounds) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    char *buffer = malloc(bytes);
    memset(buffer, rank == 0 ? 7 : 0, bytes);
    for (int batch = 0; batch < warm; batch++) halfRoundTrip(buffer, bytes, rank, rounds);
    if (rank == 0) printf("sample %s %d", argv[1], bytes);
    for (int batch = 0; batch < batches; batch++) {
      double us = halfRoundTrip(buffer, bytes, rank, rounds);
      if (rank == 0) printf(" %.4f", us);
    }
    if (buffer[0] != 7 || buffer[bytes - 1] != 7) MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0) {
      printf("\n");
      fflush(stdout);
    }
    free(buffer);
  }
  MPI_Finalize();
}
