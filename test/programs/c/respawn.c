/* When ranks die, the others start as many again, and all work on together. */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int error, const char *what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  printf("cannot %s: %s\n", what, text);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* All of `comm` add up what they have. */
static int sum(MPI_Comm comm, int mine, int *all) { return MPI_Allreduce(&mine, all, 1, MPI_INT, MPI_SUM, comm); }

int main(int argc, char **argv) {
  int rank, size, all;
  MPI_Comm parents, comm, rest, both;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parents);
  if (parents == MPI_COMM_NULL) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int steps = 0; sum(comm, 1, &all) == 0; steps++)
      if (steps == 20 && rank == 0) printf("at work\n"), fflush(stdout);
    MPIX_Comm_revoke(comm);
    check(MPIX_Comm_shrink(comm, &rest), "shrink");
    int alive;
    MPI_Comm_size(rest, &alive);
    MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
    check(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, size - alive, MPI_INFO_NULL, 0, rest, &parents, MPI_ERRCODES_IGNORE), "spawn");
    check(MPI_Intercomm_merge(parents, 0, &both), "merge");
  } else check(MPI_Intercomm_merge(parents, 1, &both), "merge");
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  MPI_Comm_rank(both, &rank);
  MPI_Comm_size(both, &size);
  check(sum(both, rank, &all), "add up");
  /* The spawned know of the deaths before their birth: their agreements end too. */
  int flag = 1;
  check(MPIX_Comm_agree(both, &flag), "agree");
  check(MPIX_Comm_shrink(both, &rest), "shrink again");
  if (rank == 0) printf("%d ranks, sum %d, agreed on %d\n", size, all, flag);
  MPI_Finalize();
}
