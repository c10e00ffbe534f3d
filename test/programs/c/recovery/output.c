/* Ranks in a ring: each says a number that depends on how often it looked and on the clock, prints it, and passes it on. */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 6 };

int main(int argc, char **argv) {
  int rank, size;
  unsigned said = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < STEPS; step++) {
    unsigned heard = 0, looks = 0;
    int flag = 0;
    MPI_Request receive, send;
    MPI_Irecv(&heard, 1, MPI_UNSIGNED, (rank + size - 1) % size, step, MPI_COMM_WORLD, &receive);
    unsigned old = said;
    MPI_Isend(&old, 1, MPI_UNSIGNED, (rank + 1) % size, step, MPI_COMM_WORLD, &send);
    while (!flag) {
      looks++;
      MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    said = said * 31 + looks + (unsigned)(MPI_Wtime() * 1e9);
    printf("step %d heard %u ", step, heard);
    fflush(stdout);
    printf("said %u\n", said);
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
