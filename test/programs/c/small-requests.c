/* Ranks in a ring exchange messages by requests that stay open over other calls, in lists and one by one, in an order that changes; what came is
   summed up. Arguments: rounds, and the round after which rank 0 says "step". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 6
#define ROOM 1500

static int in[MOST][ROOM], out[MOST][ROOM];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, rounds = atoi(argv[1]), announced = atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  unsigned sum = 0;
  double last = MPI_Wtime();
  for (int round = 0; round < rounds; round++) {
    MPI_Request requests[2 * MOST];
    MPI_Status statuses[2 * MOST];
    int many = 1 + round % MOST, tagged = round % 3;
    for (int i = 0; i < many; i++) {
      /* With any tag the messages come in their order; with tags of their own receives are posted backwards. */
      int k = tagged == 0 ? many - 1 - i : i;
      int from = round % 64 == 63 && i == 0 ? MPI_PROC_NULL : left;
      MPI_Irecv(in[k], ROOM, MPI_INT, from, tagged == 1 ? MPI_ANY_TAG : k, MPI_COMM_WORLD, &requests[i]);
    }
    if (MPI_Wtime() < last) return 3;
    for (int i = 0; i < many; i++) {
      int length = (round * 7 + i * 131) % (round % 16 == 0 ? ROOM : 40);
      for (int j = 0; j < length; j++) out[i][j] = rank + round * 3 + i + j;
      int to = right;
      if (round % 64 == 63 && i == (tagged == 0 ? many - 1 : 0)) to = MPI_PROC_NULL;
      if (i % 2 == 0) MPI_Isend(out[i], length, MPI_INT, to, i, MPI_COMM_WORLD, &requests[many + i]);
      else {
        MPI_Send(out[i], length, MPI_INT, to, i, MPI_COMM_WORLD);
        requests[many + i] = MPI_REQUEST_NULL;
      }
    }
    switch (round % 7) {
    case 0: {
      int index;
      MPI_Status status;
      MPI_Waitany(many, requests, &index, &status);
      statuses[index] = status;
      for (int i = 0; i < many; i++)
        if (i != index) MPI_Wait(&requests[i], &statuses[i]);
      MPI_Waitall(many, requests + many, MPI_STATUSES_IGNORE);
      break;
    }
    case 1:
      for (int i = many - 1; i >= 0; i--) MPI_Wait(&requests[i], &statuses[i]);
      MPI_Waitall(many, requests + many, MPI_STATUSES_IGNORE);
      break;
    case 2:
      for (int i = 0; i < many; i++)
        for (int flag = 0; !flag;) MPI_Test(&requests[i], &flag, &statuses[i]);
      MPI_Waitall(many, requests + many, MPI_STATUSES_IGNORE);
      break;
    case 3: {
      int all = rank;
      MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      sum += all;
    } /* fall through */
    default:
      MPI_Waitall(2 * many, requests, statuses);
    }
    for (int i = 0; i < 2 * many; i++)
      if (requests[i] != MPI_REQUEST_NULL) return 4;
    for (int i = 0; i < many; i++) {
      int length, k = tagged == 0 ? many - 1 - i : i;
      MPI_Get_count(&statuses[i], MPI_INT, &length);
      if (statuses[i].MPI_SOURCE == MPI_PROC_NULL) continue;
      if (statuses[i].MPI_SOURCE != left || (tagged != 1 && statuses[i].MPI_TAG != k)) return 5;
      sum = sum * 31 + statuses[i].MPI_TAG * 1000 + length;
      for (int j = 0; j < length; j++) {
        if (in[k][j] != left + round * 3 + statuses[i].MPI_TAG + j) return 6;
        sum += in[k][j];
      }
    }
    if (round == announced && rank == 0) {
      printf("step\n");
      fflush(stdout);
    }
  }
  unsigned total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%u\n", total);
  MPI_Finalize();
  return 0;
}
