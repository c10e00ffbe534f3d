/*
 * How long a receive waits for a process that is killed, until it returns the error. The last rank, which will be killed by a fault plan with
 * its node, sends without a pause; the error comes to rank 0 so long after the last message that it got.
 *
 *   detection
 *
 * Prints: sample detection_ms 1 <one figure>.
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, size, beat = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double last = MPI_Wtime();
  if (rank == size - 1)
    for (;;) MPI_Ssend(&beat, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    while (MPI_Recv(&beat, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS) last = MPI_Wtime();
    printf("sample detection_ms 1 %.4f\n", (MPI_Wtime() - last) * 1e3);
  }
  MPI_Finalize();
}
