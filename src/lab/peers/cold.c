/*
 * The first calls of a program, without any warm-up: the C twin of programs/cold.ts.
 *
 *   cold ping-pong|allreduce <windows>
 *
 * The windows are the first call, the next 9, 90, 900, … of 8 bytes each. A ping-pong is between ranks 2i and 2i + 1, all pairs at the
 * same time. Prints one line per window, and one for the first 1 000 together, as rank 0 sees them:
 *
 *   sample <kind>_<ranks>_us <number of its last call> <mean time of a call, or of half a round trip, in microseconds>
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 3, WINDOWS_MAX = 6, FIRST = 1000 };

static int rank, ranks;
static double mine, theirs;

static void pingPong(void) {
  int peer = rank ^ 1;
  if (rank % 2 == 0) MPI_Send(&mine, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank % 2 != 0) MPI_Send(&mine, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  if (theirs != peer) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void allreduce(void) {
  MPI_Allreduce(&mine, &theirs, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (theirs != ranks * (ranks - 1) / 2.0) MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks % 2 != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  int isPingPong = strcmp(argv[1], "ping-pong") == 0, windows = atoi(argv[2]);
  if (windows > WINDOWS_MAX) windows = WINDOWS_MAX;
  const char *kind = isPingPong ? "ping_pong" : "allreduce";
  double seconds[WINDOWS_MAX];
  mine = rank;
  for (int window = 0, last = 0, next = 1; window < windows; window++, next *= 10) {
    double start = MPI_Wtime();
    for (; last < next; last++) isPingPong ? pingPong() : allreduce();
    seconds[window] = (MPI_Wtime() - start) / (isPingPong ? 2 : 1);
  }
  if (rank == 0) {
    double sum = 0;
    for (int window = 0, last = 0, next = 1; window < windows; window++, last = next, next *= 10) {
      printf("sample %s_%d_us %d %.4f\n", kind, ranks, next, seconds[window] / (next - last) * 1e6);
      sum += seconds[window];
      if (next == FIRST) printf("sample %s_%d_first_us %d %.4f\n", kind, ranks, FIRST, sum / FIRST * 1e6);
    }
  }
  MPI_Finalize();
}
