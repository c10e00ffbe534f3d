/*
 * Every rank says when it has passed the first barrier, the C twin of programs/startup.ts.
 *
 * Prints, for each rank: sample passed_ms <ranks> <milliseconds since 1970>.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  printf("sample passed_ms %d %.3f\n", ranks, now.tv_sec * 1e3 + now.tv_nsec / 1e6);
  MPI_Finalize();
}
