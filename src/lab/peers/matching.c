/*
 * What one receive costs when many messages, or many receives, are waiting; the C twin of programs/matching.ts, which
 * explains the two scenarios.
 *
 *   matching <batches> <how many wait>:<warm-up batches> ...
 *
 * Prints: sample unexpected_us <waiting> <figures> and sample posted_us <waiting> <figures>.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;
static double *payload;
static MPI_Request *requests;

/* Tags 0 … waiting-1 are the messages; these two are signals between the ranks. */
static int lastTag(int waiting) { return waiting; }
static int goTag(int waiting) { return waiting + 1; }
static int strayTag(int waiting) { return waiting + 2; }

static void signalPeer(int tag) { MPI_Send(NULL, 0, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD); }
static void awaitPeer(int tag) { MPI_Recv(NULL, 0, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void check(double sum, int waiting) {
  if (sum != (double)waiting * (waiting - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 3);
}

static double unexpected(int waiting) {
  if (rank == 1) {
    for (int i = 0; i < waiting; i++) {
      payload[i] = i;
      MPI_Isend(&payload[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
    signalPeer(lastTag(waiting));
    MPI_Waitall(waiting, requests, MPI_STATUSES_IGNORE);
    awaitPeer(goTag(waiting));
    return 0;
  }
  awaitPeer(lastTag(waiting));
  double start = MPI_Wtime(), sum = 0, value;
  for (int i = waiting - 1; i >= 0; i--) {
    MPI_Recv(&value, 1, MPI_DOUBLE, i % 4 == 0 ? MPI_ANY_SOURCE : 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += value;
  }
  double us = (MPI_Wtime() - start) / waiting * 1e6;
  check(sum, waiting);
  signalPeer(goTag(waiting));
  return us;
}

static double posted(int waiting) {
  int exact = waiting - waiting / 10;
  if (rank == 1) {
    awaitPeer(goTag(waiting));
    for (int i = waiting - 1; i >= 0; i--) {
      payload[i] = i;
      MPI_Isend(&payload[i], 1, MPI_DOUBLE, 0, i < exact ? i : strayTag(waiting), MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(waiting, requests, MPI_STATUSES_IGNORE);
    awaitPeer(lastTag(waiting));
    return 0;
  }
  for (int i = 0; i < waiting; i++) {
    int source = i % 4 == 0 || i >= exact ? MPI_ANY_SOURCE : 1;
    MPI_Irecv(&payload[i], 1, MPI_DOUBLE, source, i < exact ? i : MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
  }
  double start = MPI_Wtime(), sum = 0;
  signalPeer(goTag(waiting));
  MPI_Waitall(waiting, requests, MPI_STATUSES_IGNORE);
  double us = (MPI_Wtime() - start) / waiting * 1e6;
  for (int i = 0; i < waiting; i++) sum += payload[i];
  check(sum, waiting);
  signalPeer(lastTag(waiting));
  return us;
}

static void measure(const char *name, double (*once)(int), int waiting, int batches, int warm) {
  for (int batch = 0; batch < warm; batch++) once(waiting);
  if (rank == 0) printf("sample %s %d", name, waiting);
  for (int batch = 0; batch < batches; batch++) {
    double us = once(waiting);
    if (rank == 0) printf(" %.4f", us);
  }
  if (rank == 0) {
    printf("\n");
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int batches = atoi(argv[1]);
  for (int i = 2; i < argc; i++) {
    int waiting = 0, warm = 0;
    if (sscanf(argv[i], "%d:%d", &waiting, &warm) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    payload = malloc(waiting * sizeof *payload);
    requests = malloc(waiting * sizeof *requests);
    measure("unexpected_us", unexpected, waiting, batches, warm);
    measure("posted_us", posted, waiting, batches, warm);
    free(payload);
    free(requests);
  }
  MPI_Finalize();
}
