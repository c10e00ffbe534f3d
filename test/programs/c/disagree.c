/*
 * Ranks that disagree about a collective, again and again: counts on two sides of an algorithm's limit, another function, another
 * root, a bad argument, parts left out, groups in a circle, a file closed early, the non-blocking form, the end of the program. Everybody returns, somebody with an
 * error that says why, and afterwards a collective that all call alike goes well.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, errors;

/* Ends a disagreement: does anybody have an error, and is the next collective right? */
static void check(const char *what, int code, int must_be_seen) {
  int next = -1, seen = 0, failed = code != MPI_SUCCESS;
  int result = MPI_Allreduce(&failed, &seen, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (result != MPI_SUCCESS || (must_be_seen && seen == 0)) {
    printf("rank %d, %s: %d, %d of %d ranks saw it\n", rank, what, result, seen, size);
    errors++;
  }
  result = MPI_Allreduce(&rank, &next, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (result != MPI_SUCCESS || next != size * (size - 1) / 2) {
    printf("rank %d, after %s: %d, sum %d\n", rank, what, result, next);
    errors++;
  }
}

static void all_to_all(int odd) {
  int *counts = calloc(2 * size, sizeof(int)), *offsets = calloc(size, sizeof(int));
  int *from = calloc(size, sizeof(int)), *to = calloc(size, sizeof(int));
  MPI_Datatype *types = malloc(size * sizeof(MPI_Datatype));
  for (int i = 0; i < size; i++) {
    counts[i] = rank == odd ? 0 : 1;
    counts[size + i] = 1;
    offsets[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  check("parts left out",
    MPI_Alltoallw(from, counts, offsets, types, to, counts + size, offsets, types, MPI_COMM_WORLD), 1);
  free(counts), free(offsets), free(from), free(to), free(types);
}

/* Everybody makes a communicator with the next rank, first of all: nobody comes to the call in which another waits. */
static void circle(void) {
  MPI_Group all, pair;
  MPI_Comm made = MPI_COMM_NULL;
  int members[2] = {rank, (rank + 1) % size};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, members, &pair);
  check("a circle of groups", MPI_Comm_create_group(MPI_COMM_WORLD, pair, 5, &made), 1);
  if (MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &made) != MPI_SUCCESS) errors++;
  else MPI_Comm_free(&made);
  MPI_Group_free(&pair), MPI_Group_free(&all);
}

/* One closes a file at once; to close it after the others have used it once more nobody is left. */
static void early_close(int odd) {
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "disagree.dat", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  int used = rank == odd ? MPI_SUCCESS : MPI_File_sync(file), closed = MPI_File_close(&file);
  check("a file that is closed early", used != MPI_SUCCESS ? used : closed, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int odd = size - 1;
  char *bytes = calloc(1000000, 1), *more = calloc(300000, 1);

  check("lengths", MPI_Bcast(bytes, rank == odd ? 1000 : 300000, MPI_CHAR, 0, MPI_COMM_WORLD), 1);
  check("lengths of an allreduce",
    MPI_Allreduce(bytes, more, rank == odd ? 100 : 50000, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD), 1);
  check("functions", rank == odd ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Bcast(bytes, 200000, MPI_CHAR, odd, MPI_COMM_WORLD), 1);
  /* More than meets on a board inside a node, where a root that is another one is not noticed. */
  check("roots", MPI_Bcast(bytes, 1000000, MPI_CHAR, rank == 0 ? odd : 0, MPI_COMM_WORLD), 1);
  check("a bad count", MPI_Bcast(bytes, rank == 0 ? -1 : 8, MPI_CHAR, 0, MPI_COMM_WORLD), 1);
  all_to_all(odd);
  early_close(odd);
  if (size > 2) circle();
  MPI_Request request = MPI_REQUEST_NULL;
  int code = rank == odd ? MPI_Ibcast(bytes, 8, MPI_CHAR, 0, MPI_COMM_WORLD, &request)
                         : MPI_Bcast(bytes, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == odd) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("forms", code, 0);

  /* The last rank leaves; the others call one more. */
  if (rank != odd && MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) errors++;
  if (rank == 0) printf("%d errors on %d ranks\n", errors, size);
  free(bytes), free(more);
  MPI_Finalize();
  return errors != 0;
}
