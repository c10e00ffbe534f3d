/*
 * Barriers, broadcasts and reductions of 0 to 1 200 bytes, one after the other, on two communicators, with messages in between: every
 * rank draws the same sequence and checks every result, and that nothing behind its buffer has changed.
 *
 *   small-collectives <collectives> <announced> [<rank>]
 *
 * Rank 0 prints "step" when the first part of them, so many, is over, and a checksum of all ranks at the end. With a
 * third argument that rank ends with 7 then, and the others wait for it in a collective.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 150, UNTOUCHED = 0x7eeeeeee };

static unsigned state = 4711;
static int rank, ranks;

static unsigned draw(unsigned bound) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % bound;
}

static void fail(const char *what, int number) {
  printf("rank %d, collective %d: %s\n", rank, number, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/** What a rank gives: small, so that sums are exact. */
static double valueOf(int number, int who, int k) { return (number * 31 + who * 17 + k * 7) % 101; }

int main(int argc, char **argv) {
  static double from[COUNT_MAX + 1], to[COUNT_MAX + 1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int collectives = atoi(argv[1]), announced = atoi(argv[2]);
  MPI_Comm backwards;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  double checksum = 0, all = 0;
  for (int i = 0; i < collectives; i++) {
    if (i == announced && rank == 0) {
      printf("step\n");
      fflush(stdout);
    }
    int kind = draw(5), isBackwards = draw(3) == 0, root = draw(ranks), inPlace = draw(3) == 0, isMax = draw(3) == 0;
    int count = draw(4) == 0 ? draw(COUNT_MAX) : draw(4);
    MPI_Comm comm = isBackwards ? backwards : MPI_COMM_WORLD;
    int rootOfAll = isBackwards ? ranks - 1 - root : root;
    MPI_Op op = isMax ? MPI_MAX : MPI_SUM;
    for (int k = 0; k < count; k++) from[k] = to[k] = valueOf(i, rank, k);
    to[count] = UNTOUCHED;
    int hasResult = 1, error = MPI_SUCCESS;
    if (kind == 0) error = MPI_Barrier(comm);
    else if (kind == 1) error = MPI_Bcast(to, count, MPI_DOUBLE, root, comm);
    else if (kind == 2) {
      hasResult = rank == rootOfAll;
      error = MPI_Reduce(hasResult && inPlace ? MPI_IN_PLACE : from, to, count, MPI_DOUBLE, op, root, comm);
    } else error = MPI_Allreduce(inPlace ? MPI_IN_PLACE : from, to, count, MPI_DOUBLE, op, comm);
    if (error != MPI_SUCCESS) fail("error", i);
    for (int k = 0; k < count && kind != 0; k++) {
      double expected = kind == 1 ? valueOf(i, rootOfAll, k) : valueOf(i, 0, k);
      for (int other = 1; other < ranks && kind > 1; other++) {
        double value = valueOf(i, other, k);
        if (!isMax) expected += value;
        else if (value > expected) expected = value;
      }
      if (to[k] != (hasResult ? expected : valueOf(i, rank, k))) fail("wrong value", i);
      checksum += to[k];
    }
    if (to[count] != UNTOUCHED) fail("something behind the buffer", i);
    // Messages that arrive while their receivers are in collectives.
    if (draw(10) == 0) {
      int source = draw(ranks), dest = draw(ranks), got = -1;
      if (source == dest) continue;
      if (rank == source) MPI_Send(&i, 1, MPI_INT, dest, 3, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == dest) MPI_Recv(&got, 1, MPI_INT, source, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == dest && got != i) fail("wrong message", i);
    }
  }
  MPI_Reduce(&checksum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.0f\n", all);
  if (argc > 3) {
    if (rank == atoi(argv[3])) exit(7);
    for (;;) MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
