/*
 * A master and workers: whoever brings a result gets the next task. Who that is depends on chance: tasks take as long as a clock says, and
 * the master polls, and sends along how often. So the program is not send-deterministic. What it prints is the same in every run,
 * if the master and each worker agree on what happened between them: how many tasks there were, which, and what came back.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASK = 5, RESULT = 6, MEMORY = 7, WORKERS_MAX = 64 };
typedef struct { long task, polls, sum; } Work;

static long mix(long before, long value) { return (before * 1000003 + value) & 0xffffffffL; }

static void master(int workers, long tasks) {
  long given[WORKERS_MAX] = {0}, seen[WORKERS_MAX] = {0}, next = 1, done = 0, total = 0, running = 0;
  for (int to = 1; to <= workers; to++) {
    Work work = {next++, 0, 0};
    given[to] = mix(given[to], work.task);
    MPI_Send(&work, sizeof work, MPI_BYTE, to, TASK, MPI_COMM_WORLD);
    running++;
  }
  while (running > 0) {
    long polls = 0;
    int flag = 0;
    Work work;
    MPI_Status status;
    while (polls < 3 && !flag) {
      MPI_Iprobe(MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &flag, &status);
      polls++;
    }
    MPI_Recv(&work, sizeof work, MPI_BYTE, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
    int from = status.MPI_SOURCE;
    total += work.sum;
    done++;
    seen[from] = mix(seen[from], work.sum);
    work.task = next <= tasks ? next++ : 0;
    work.polls = polls;
    work.sum = mix(from, done);
    if (work.task == 0) running--;
    given[from] = mix(mix(given[from], work.task), work.polls + work.sum);
    MPI_Send(&work, sizeof work, MPI_BYTE, from, TASK, MPI_COMM_WORLD);
    if (done % 50 == 0) {
      printf("%ld tasks are done\n", done);
      fflush(stdout);
    }
  }
  int wrong = 0;
  for (int from = 1; from <= workers; from++) {
    long both[2];
    MPI_Recv(both, 2, MPI_LONG, from, MEMORY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (both[0] != given[from] || both[1] != seen[from]) wrong++;
  }
  printf("%ld tasks, sum %ld, %d workers remember otherwise\n", done, total, wrong);
}

static void worker(long us) {
  long given = 0, seen = 0;
  int is_first = 1;
  for (;;) {
    Work work;
    MPI_Recv(&work, sizeof work, MPI_BYTE, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    given = is_first ? mix(given, work.task) : mix(mix(given, work.task), work.polls + work.sum);
    is_first = 0;
    if (work.task == 0) break;
    usleep((useconds_t)((long)(MPI_Wtime() * 1e6) % (us + 1)));
    work.sum = work.task * work.task;
    seen = mix(seen, work.sum);
    MPI_Send(&work, sizeof work, MPI_BYTE, 0, RESULT, MPI_COMM_WORLD);
  }
  long both[2] = {given, seen};
  MPI_Send(both, 2, MPI_LONG, 0, MEMORY, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long tasks = argc > 1 ? atol(argv[1]) : 100, us = argc > 2 ? atol(argv[2]) : 2000;
  if (rank == 0) master(size - 1, tasks);
  else worker(us);
  MPI_Finalize();
  return 0;
}
