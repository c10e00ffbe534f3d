/*
 * Pauses of rank 0 in exchanges with rank 1, of many, each some time after the last: how long a death holds a program up whose replicas go
 * on. A number of steps, not of seconds: replicas read different clocks, and must do the same.
 *
 *   pauses <steps> <microseconds between two>
 *
 * Prints: at work; and at the end, for each pause of more than a millisecond, sample pause_ms <its number> <when it ended, since 1970> <how long it was>.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAUSES_MAX = 1 << 14 };

static double nowMs(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec * 1e3 + now.tv_usec / 1e3;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 7;
  long steps = argc > 1 ? atol(argv[1]) : 1000, us = argc > 2 ? atol(argv[2]) : 200;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static double ends[PAUSES_MAX], lengths[PAUSES_MAX];
  int pauses = 0;
  for (long step = 0; step < steps && rank < 2; step++) {
    if (us > 0) usleep(us);
    double before = nowMs();
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    double after = nowMs();
    if (step == 10 && rank == 0) {
      // The first ones find their way.
      printf("at work\n");
      fflush(stdout);
    }
    if (step <= 10 || after - before <= 1 || pauses == PAUSES_MAX) continue;
    lengths[pauses] = after - before;
    ends[pauses++] = after;
  }
  for (int i = 0; i < pauses && rank == 0; i++) printf("sample pause_ms %d %.4f %.4f\n", i, ends[i], lengths[i]);
  MPI_Finalize();
}
