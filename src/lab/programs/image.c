/*
 * Fills memory with what cannot be compressed, and then says every few milliseconds that it runs: the last line before a
 * freeze and the first one after a thaw tell when it stood still. It ends when it was thawed, if nothing is damaged.
 *
 *   image <MiB>
 *
 * Prints: sample alive_ms <MiB> <milliseconds since 1970>.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MIB = 1 << 20 };
static const double everyMs = 5, shiftMs = 50, patienceMs = 60000;

static double nowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* Marsaglia's xorshift: fills the memory, or finds that it is what it was filled with. */
static int pass(uint64_t *words, size_t count, int fills) {
  uint64_t x = 88172645463325252u;
  for (size_t i = 0; i < count; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    if (fills) words[i] = x;
    else if (words[i] != x) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int mib = argc > 1 ? atoi(argv[1]) : 1, flag;
  size_t count = (size_t)mib * (MIB / sizeof(uint64_t));
  uint64_t *words = malloc((size_t)mib * MIB);
  if (words == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  pass(words, count, 1);
  /* MPI's clock stands while the program does. It is read last: a delay in between only makes the difference smaller. */
  double start = nowMs(), last = 0, apart = start - MPI_Wtime() * 1e3;
  for (int thawed = 0; !thawed;) {
    double now = nowMs();
    thawed = now - MPI_Wtime() * 1e3 - apart > shiftMs;
    if (now - start > patienceMs && !thawed) MPI_Abort(MPI_COMM_WORLD, 4);
    if (now - last >= everyMs || thawed) {
      printf("sample alive_ms %d %.3f\n", mib, now);
      fflush(stdout);
      last = now;
    }
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  if (!pass(words, count, 0)) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
}
