/*
 * Allgathers, all-to-alls and reductions of some KiB to a megabyte, one after the other, on all ranks in two orders and among those of a node:
 * every rank draws the same sequence, overwrites what it has given as soon as a call is over, and checks every result, and that nothing
 * behind it has changed.
 *
 *   long-collectives <collectives> <announced> [<rank>]
 *
 * Rank 0 prints "step" when the first part of them, so many, is over, and a checksum of all ranks at the end. With a
 * third argument that rank ends with 7 then, and the others wait for it in a collective.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, MARGIN = 64, UNTOUCHED = 0x5e };
enum { ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, KINDS };

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

/** What `who` gives to `whom` there. */
static int valueOf(int number, int who, int whom, int k) { return (number * 31 + who * 17 + whom * 5 + k * 7) % 10007; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int collectives = atoi(argv[1]), announced = atoi(argv[2]);
  int countMax = BYTES_MAX / 4 / ranks;
  int *from = malloc(ranks * countMax * 4), *to = malloc(ranks * countMax * 4 + MARGIN);
  if (from == NULL || to == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Comm comms[3] = {MPI_COMM_WORLD};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comms[2]);
  MPI_Datatype pairs;
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  unsigned long long checksum = 0, all = 0;
  for (int i = 0; i < collectives; i++) {
    if (i == announced && rank == 0) {
      printf("step\n");
      fflush(stdout);
    }
    MPI_Comm comm = comms[draw(3)];
    int own, members, kind = draw(KINDS), inPlace = draw(3) == 0, isDerived = draw(8) == 0;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    int root = draw(ranks) % members, hasResult = kind != REDUCE || own == root;
    // Around the length from which parts are lent, some that no board has room for, some odd ones.
    static const int lengths[] = {8192, 16380, 16384, 16388, 32768, 65536, 131072, 262144, BYTES_MAX};
    int count = lengths[draw(9)] / 4 / (draw(2) == 0 && kind == ALLTOALL ? members : 1);
    if (count > countMax) count = countMax;
    if (isDerived && count % 2 != 0) count--;
    int blocks = kind == ALLGATHER || kind == ALLTOALL ? members : 1, gives = kind == ALLTOALL ? members : 1;
    memset(to, UNTOUCHED, (size_t)blocks * count * 4 + MARGIN);
    int *given = inPlace && hasResult ? to + (kind == ALLGATHER ? own * count : 0) : from;
    for (int whom = 0; whom < gives; whom++)
      for (int k = 0; k < count; k++) given[whom * count + k] = valueOf(i, own, whom, k);
    const void *send = inPlace && hasResult ? MPI_IN_PLACE : from;
    // A rank here and there calls with another type for the same bytes.
    MPI_Datatype type = isDerived && draw(ranks) == (unsigned)rank ? pairs : MPI_INT;
    int items = type == pairs ? count / 2 : count, error = MPI_SUCCESS;
    if (kind == ALLGATHER) error = MPI_Allgather(send, items, type, to, items, type, comm);
    else if (kind == ALLTOALL) error = MPI_Alltoall(send, items, type, to, items, type, comm);
    else if (kind == REDUCE) error = MPI_Reduce(send, to, count, MPI_INT, MPI_SUM, root, comm);
    else error = MPI_Allreduce(send, to, count, MPI_INT, MPI_SUM, comm);
    if (error != MPI_SUCCESS) fail("error", i);
    memset(from, 0x33, (size_t)gives * count * 4);
    for (int block = 0; block < blocks && hasResult; block++)
      for (int k = 0; k < count; k++) {
        int expected = valueOf(i, kind >= REDUCE ? 0 : block, kind == ALLTOALL ? own : 0, k);
        for (int other = 1; other < members && kind >= REDUCE; other++) expected += valueOf(i, other, 0, k);
        if (to[block * count + k] != expected) fail("wrong value", i);
        checksum = checksum * 31 + (unsigned)expected;
      }
    const char *behind = (const char *)(to + (hasResult ? blocks * count : 0));
    for (int k = 0; k < MARGIN; k++)
      if (behind[k] != UNTOUCHED) fail("something behind the buffer", i);
    // Whoever is late must not find it.
    if (hasResult) memset(to, 0x44, (size_t)blocks * count * 4);
  }
  MPI_Reduce(&checksum, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%llu\n", all);
  if (argc > 3) {
    if (rank == atoi(argv[3])) exit(7);
    for (;;) MPI_Allgather(from, countMax, MPI_INT, to, countMax, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
