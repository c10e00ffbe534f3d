/*
 * Tests 1 to 11 of the thesis of the fault-simulation layer (section 6.2), under it:
 *
 *   layer-tests <dead> <times>
 *
 * dead: a digit for each rank, 1: it dies in the middle. Tests 1 to 8 are repeated so many times. Every rank that lives prints how many calls ended otherwise than they should.
 */
#include <MPI-FT.h>
#include <MPI-FT_redefine.h>
#include <stdio.h>
#include <string.h>
static int rank, size, wrong = 0, has_dead = 0;
static int values[4096], result[4096];
/* With the dead among those that a call needs it says so, otherwise it goes well. */
static void expect(const char *what, int error, int needs_dead) {
  int class = 0;
  if (error) MPI_Error_class(error, &class);
  if (class != (needs_dead ? MPI_ERR_PROC_FAILED : 0)) { printf("%d: %s ends with %d\n", rank, what, class); wrong++; }
}
static int is_dead(int other, const char *dead) { return other < (int)strlen(dead) && dead[other] == '1'; }
static void one_to_five(int test, int count, const char *dead) {
  int partner = rank ^ 1, needs_dead = has_dead && partner < size && is_dead(partner, dead);
  for (int i = 0; i < count; i++) values[i] = rank + i;
  if (test == 1 || test == 5) {
    int error = MPI_Allreduce(values, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("allreduce", error, has_dead);
    if (!error && result[count - 1] != size * (size - 1) / 2 + size * (count - 1)) wrong++;
  }
  if ((test == 2 || test == 5) && partner < size) {
    if (rank % 2 == 0) expect("send", MPI_Send(values, count, MPI_INT, partner, 1, MPI_COMM_WORLD), needs_dead);
    else expect("recv", MPI_Recv(result, count, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), needs_dead);
  }
  if (test == 3 && partner < size) {
    MPI_Request request;
    if (rank % 2 == 0) MPI_Isend(values, count, MPI_INT, partner, 2, MPI_COMM_WORLD, &request);
    else MPI_Irecv(result, count, MPI_INT, partner, 2, MPI_COMM_WORLD, &request);
    expect("wait", MPI_Wait(&request, MPI_STATUS_IGNORE), needs_dead);
  }
  if (test == 4) expect("bcast", MPI_Bcast(values, count, MPI_INT, 0, MPI_COMM_WORLD), has_dead);
}
int main(int argc, char **argv) {
  const char *dead = argv[1];
  const int times = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int test = 1; test <= 5; test++)
    for (int i = 0; i < times; i++) one_to_five(test, i % 3 == 2 ? 4096 : 1 + i % 7, dead);
  for (int i = 0; i < times; i++) { /* 8 */
    MPI_Comm half;
    expect("split", MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half), 0);
    MPI_Comm_free(&half);
  }
  MPI_Comm outstanding; /* 11 */
  MPI_Request requests[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &outstanding);
  if (!is_dead(rank, dead)) {
    MPI_Ibarrier(outstanding, &requests[0]);
    MPI_Ibcast(values, 10, MPI_INT, 0, outstanding, &requests[1]);
  }
  if (is_dead(rank, dead)) Sim_FT_kill_me();
  has_dead = 1;
  expect("ibarrier", MPI_Wait(&requests[0], MPI_STATUS_IGNORE), 1);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Comm_free(&outstanding);
  for (int test = 1; test <= 5; test++) /* 6, 7 */
    for (int i = 0; i < times; i++) one_to_five(test, 1 + i % 7, dead);
  MPI_Comm survivors; /* 9 */
  expect("shrink", MPI_Comm_shrink(MPI_COMM_WORLD, &survivors), 0);
  int now, got;
  MPI_Comm_size(survivors, &now);
  got = now * 1000;
  expect("bcast of survivors", MPI_Bcast(&got, 1, MPI_INT, now - 1, survivors), 0);
  if (got != now * 1000) wrong++;
  int me; /* 10 */
  MPI_Comm_rank(survivors, &me);
  if (me == 0) MPI_Comm_revoke(survivors);
  int class, error = MPI_Barrier(survivors), flag = 1;
  MPI_Error_class(error, &class);
  if (class != MPI_ERR_REVOKED) { printf("%d: barrier on a revoked communicator: %d\n", rank, class); wrong++; }
  expect("agree", MPI_Comm_agree(survivors, &flag), 0);
  MPI_Comm_free(&survivors);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
