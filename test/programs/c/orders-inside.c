/*
 * Many short messages from any source: rank 0 folds the order in which the others come to it, prints how far it is now and then, and says at the end
 * what it should have printed. A life that sees another order than the life before says something else.
 *
 *   orders-inside <rounds> <rounds between two lines> [<1: ranks send to themselves too>] [<microseconds of rest after 128 rounds>]
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REPORT = 1, ANSWER = 2, OWN = 3, LINES_MAX = 4096 };

static uint32_t mix(uint32_t before, uint32_t value) { return (before ^ value) * 16777619u + (before >> 15); }

static uint32_t printed[LINES_MAX];

int main(int argc, char **argv) {
  int rank, size, flag;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long rounds = atol(argv[1]), every = atol(argv[2]), lines = 0;
  int own = argc > 3 && atoi(argv[3]) != 0, rest = argc > 4 ? atoi(argv[4]) : 0;
  uint32_t state = 2166136261u + (uint32_t)rank;
  double ignored;
  for (long round = 1; round <= rounds; round++) {
    if (own && round % 16 == 0) MPI_Sendrecv(&state, 1, MPI_UINT32_T, rank, OWN, &ignored, 2, MPI_UINT32_T, rank, OWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
      for (int i = 1; i < size; i++) {
        uint32_t got;
        MPI_Status status;
        if (round % 64 == 0) MPI_Iprobe(MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, &flag, &status), state = mix(state, (uint32_t)flag);
        MPI_Recv(&got, 1, MPI_UINT32_T, MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, &status);
        state = mix(mix(state, got), (uint32_t)status.MPI_SOURCE);
        MPI_Send(&state, 1, MPI_UINT32_T, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
      }
      if (round % every == 0 && lines < LINES_MAX) {
        printed[lines] = state;
        printf("line %ld: %u\n", lines, state);
        fflush(stdout);
        lines++;
      }
    } else {
      uint32_t answer;
      MPI_Send(&state, 1, MPI_UINT32_T, 0, REPORT, MPI_COMM_WORLD);
      MPI_Recv(&answer, 1, MPI_UINT32_T, MPI_ANY_SOURCE, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      state = mix(state, answer);
    }
    if (round % 128 == 0) {
      uint32_t sum;
      MPI_Allreduce(&state, &sum, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
      state = mix(state, sum);
      if (rest > 0 && rank == 0) usleep(rest);
    }
  }
  if (rank == 0)
    for (long i = 0; i < lines; i++) printf("was %ld: %u\n", i, printed[i]);
  MPI_Finalize();
}
