/*
 * Ranks that have much under way between them at any moment: small and large messages, some sent long before they are received, synchronous ones, receives from any source, collectives in the
 * background and on a communicator of their own. The answer of each rank depends on all of it, and on nothing else.
 *
 *   moved [rounds] [integers of a large message] [microseconds between two rounds] [a file]
 *
 * In the middle it waits until there is that file.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 300;
  int large = argc > 2 ? atoi(argv[2]) : 50000;
  int pause = argc > 3 ? atoi(argv[3]) : 3000;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int *out = malloc(sizeof(int) * large), *in = malloc(sizeof(int) * large), *early = malloc(sizeof(int) * large);
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  unsigned sum = rank + 1;
  for (int i = 0; i < rounds; i++) {
    unsigned background = 0, given = sum;
    MPI_Request requests[2], reduced;
    for (int k = 0; k < large; k++) out[k] = sum + k * (rank + 1), early[k] = out[k] ^ i;
    /* Its receive comes at the end of the round. */
    MPI_Isend(early, large, MPI_INT, before, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&given, &background, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD, &reduced);
    MPI_Sendrecv(out, large, MPI_INT, next, 7, in, large, MPI_INT, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < large; k += 97) sum = sum * 31 + (unsigned)in[k];
    if (rank == 0) {
      for (int k = 1; k < size; k++) {
        unsigned value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_UNSIGNED, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
        sum += value * (unsigned)(status.MPI_SOURCE + 1);
      }
    } else if (i % 3 == 0) MPI_Ssend(&sum, 1, MPI_UNSIGNED, 0, 3, MPI_COMM_WORLD);
    else MPI_Send(&sum, 1, MPI_UNSIGNED, 0, 3, MPI_COMM_WORLD);
    unsigned all = 0, some = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_UNSIGNED, MPI_SUM, half);
    MPI_Bcast(in, large, MPI_INT, i % size, MPI_COMM_WORLD);
    MPI_Exscan(&sum, &some, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    sum ^= all + (unsigned)in[large / 2] + (rank == 0 ? 0 : some);
    if (pause > 0) usleep(pause);
    while (rank == 0 && argc > 4 && i == rounds / 2 && access(argv[4], F_OK) != 0) usleep(10000);
    MPI_Irecv(in, large, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&reduced, MPI_STATUS_IGNORE);
    sum = sum * 17 + background + (unsigned)in[large - 1];
    if (i % 20 == 0) printf("rank %d round %d %08x\n", rank, i, sum), fflush(stdout);
  }
  printf("rank %d answer %08x\n", rank, sum);
  MPI_Finalize();
  return 0;
}
