/*
 * An asynchronous token ring: in each round every rank sends a message to its right neighbour and receives one from the left, without
 * waiting for either before both are under way.
 *
 *   ring <bytes> <rounds> [stay]
 *
 * Rank 0 prints sample ring_us <ranks> <microseconds of a round>. With `stay` all then wait for a message that never comes: whoever is
 * started again has all of the ring to repeat, and nothing else.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 3, NEVER = 4 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int bytes = atoi(argv[1]), rounds = atoi(argv[2]), rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  unsigned char *sent = malloc(bytes + 1), *received = malloc(bytes + 1);
  for (int i = 0; i < bytes; i++) sent[i] = (unsigned char)(rank + i);

  double start = MPI_Wtime();
  for (int round = 0; round < rounds; round++) {
    MPI_Request both[2];
    MPI_Irecv(received, bytes, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(sent, bytes, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    unsigned char *other = sent;
    sent = received, received = other;
  }
  double us = (MPI_Wtime() - start) * 1e6 / rounds;

  int from = ((rank - rounds) % ranks + ranks) % ranks;
  if (bytes > 0 && sent[0] != (unsigned char)from) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) printf("sample ring_us %d %.3f\n", ranks, us), fflush(stdout);
  if (argc > 3) MPI_Recv(received, bytes, MPI_BYTE, left, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
