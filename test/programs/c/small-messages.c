/*
 * Messages of 0 to 9 000 bytes between all ranks, one after the other, blocking and not, on two communicators: every rank draws the same
 * sequence, and every receiver checks bytes, status, and that nothing behind its buffer has changed.
 *
 *   small-messages <messages> <announced>
 *
 * Rank 0 prints "step" when the first part of them, so many, is over, and the number of bytes received by all ranks at the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 9000, BEHIND = 16, UNTOUCHED = 0xee };

static unsigned state = 12345;
static int rank, ranks;

static unsigned draw(unsigned bound) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % bound;
}

static void fail(const char *what, int message) {
  printf("rank %d, message %d: %s\n", rank, message, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv) {
  static unsigned char sent[BYTES_MAX], got[BYTES_MAX + BEHIND];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int messages = atoi(argv[1]), announced = atoi(argv[2]);
  MPI_Comm backwards;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  long received = 0, all = 0;
  for (int i = 0; i < messages; i++) {
    if (i == announced && rank == 0) {
      printf("step\n");
      fflush(stdout);
    }
    int from = draw(ranks), to = draw(ranks), tag = draw(3), isBackwards = draw(2), isPosted = draw(5) == 0;
    int isNamed = ranks > 2 || draw(4) != 0, bytes = draw(4) == 0 ? draw(BYTES_MAX) : draw(100);
    if (from == to) continue;
    MPI_Comm comm = isBackwards ? backwards : MPI_COMM_WORLD;
    int source = isBackwards ? ranks - 1 - from : from, dest = isBackwards ? ranks - 1 - to : to;
    if (rank == from) {
      for (int k = 0; k < bytes; k++) sent[k] = (unsigned char)(i * 7 + k * 13);
      MPI_Send(sent, bytes, MPI_BYTE, dest, tag, comm);
    }
    if (rank == to) {
      MPI_Status status;
      memset(got, UNTOUCHED, bytes + BEHIND);
      if (isPosted) {
        MPI_Request request;
        MPI_Irecv(got, bytes, MPI_BYTE, source, tag, comm, &request);
        MPI_Wait(&request, &status);
      } else MPI_Recv(got, bytes, MPI_BYTE, isNamed ? source : MPI_ANY_SOURCE, tag, comm, &status);
      int count;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count != bytes || status.MPI_SOURCE != source || status.MPI_TAG != tag) fail("wrong status", i);
      for (int k = 0; k < bytes; k++)
        if (got[k] != (unsigned char)(i * 7 + k * 13)) fail("wrong byte", i);
      for (int k = 0; k < BEHIND; k++)
        if (got[bytes + k] != UNTOUCHED) fail("a byte behind the buffer", i);
      received += bytes;
    }
    if (i % 500 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Reduce(&received, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld bytes\n", all);
  MPI_Finalize();
}
