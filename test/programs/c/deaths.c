/* Ranks work together until one of them dies; the others shrink the communicator, work on, and say how many they are.
   deaths <work> [<victim> <end>]: the victim ends by its own doing when all have worked for a while. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static MPI_Comm comm;

static double *large;
static const int largeCount = 1 << 20;

static int ring(void *out, void *in, int count, MPI_Datatype type) {
  int to = (rank + 1) % size, from = (rank + size - 1) % size;
  return MPI_Sendrecv(out, count, type, to, 3, in, count, type, from, 3, comm, MPI_STATUS_IGNORE);
}

/* One step of the work; its error, if any. */
static int step(const char *work) {
  int one = 1, sum = 0;
  if (strcmp(work, "barrier") == 0) return MPI_Barrier(comm);
  if (strcmp(work, "allreduce") == 0) return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (strcmp(work, "ring") == 0) return ring(&one, &sum, 1, MPI_INT);
  if (strcmp(work, "large") == 0) return ring(large, large + largeCount, largeCount, MPI_DOUBLE);
  if (strcmp(work, "send") == 0) {
    /* Blocking calls by themselves, as the data plane has them. */
    int to = rank ^ 1;
    if (to >= size) return MPI_Barrier(MPI_COMM_SELF);
    if (rank < to) {
      int error = MPI_Send(&one, 1, MPI_INT, to, 4, comm);
      return error ? error : MPI_Recv(&sum, 1, MPI_INT, to, 4, comm, MPI_STATUS_IGNORE);
    }
    int error = MPI_Recv(&sum, 1, MPI_INT, to, 4, comm, MPI_STATUS_IGNORE);
    return error ? error : MPI_Send(&one, 1, MPI_INT, to, 4, comm);
  }
  fprintf(stderr, "no such work: %s\n", work);
  exit(9);
}

static void end(const char *how) {
  if (strcmp(how, "exit3") == 0) exit(3);
  if (strcmp(how, "exit0") == 0) exit(0);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "trap") == 0) __builtin_trap();
  if (strcmp(how, "mpi-abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
}

static void use(MPI_Comm other) {
  comm = other;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

int main(int argc, char **argv) {
  const char *work = argc > 1 ? argv[1] : "allreduce";
  int victim = argc > 2 ? atoi(argv[2]) : -1;
  const char *how = argc > 3 ? argv[3] : "";
  int code = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm first;
  int me, error = MPI_Comm_dup(MPI_COMM_WORLD, &first);
  /* A death in the middle of the call leaves some with a communicator and others with an error: all must go on with
     the same one, or they shrink different ones and wait for each other. */
  int everybodyHasIt = !error;
  MPIX_Comm_agree(MPI_COMM_WORLD, &everybodyHasIt);
  if (!everybodyHasIt) first = MPI_COMM_WORLD;
  use(first);
  me = rank;
  large = calloc(2 * largeCount, sizeof(double));
  for (long steps = 0; error == 0; steps++) {
    if (steps == 20 && rank == 0) printf("at work\n"), fflush(stdout);
    if (steps == 20 && rank == victim) end(how);
    if (steps == 20 && victim < -1) break;
    error = step(work);
  }
  if (error) {
    int class;
    MPI_Error_class(error, &class);
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED && class != MPIX_ERR_PROC_FAILED_PENDING)
      printf("rank %d: error class %d\n", me, class);
    MPIX_Comm_revoke(comm);
    MPI_Comm rest;
    if (MPIX_Comm_shrink(comm, &rest)) printf("rank %d cannot shrink\n", me);
    use(rest);
    int sum = 0, one = 1;
    if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm)) printf("rank %d cannot go on\n", me);
    else if (rank == 0) printf("%d of %d go on\n", sum, size);
  }
  if (victim == me && strcmp(how, "finalize4") == 0) code = 4;
  MPI_Finalize();
  return code;
}
