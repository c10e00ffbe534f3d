/* Persistent, partitioned and generalised requests under the fault layer: rank 1 dies after the first rounds. Each survivor says how many outcomes were wrong. */
#include <MPI-FT.h>
#include <stdio.h>

static int rank, wrong;

static void expect(const char *what, int error, int wanted) {
  int class = 0;
  MPI_Error_class(error, &class);
  if (class == wanted) return;
  printf("rank %d: %s ends with %d, not %d\n", rank, what, class, wanted);
  wrong++;
}

static int query(void *state, MPI_Status *status) {
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void *state) { return MPI_SUCCESS; }
static int cancel(void *state, int complete) { return MPI_SUCCESS; }

static void bothParts(MPI_Request request) {
  MPI_Pready(0, request);
  MPI_Pready(1, request);
}

int main(int argc, char **argv) {
  /* Receives first: a send that begins before the death may go well, and behind a receive that has failed it is known. */
  enum { RECEIVE, RECEIVE_PARTS, SEND, SEND_PARTS, KINDS };
  int given[4] = {1, 2, 3, 4}, taken[4], one = 1, sum = 0;
  MPI_Request requests[KINDS], all, general;
  MPI_Comm survivors;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank < 2) {
    MPI_Send_init(given, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[SEND]);
    MPI_Recv_init(taken, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[RECEIVE]);
    MPI_Psend_init(given, 2, 2, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[SEND_PARTS]);
    MPI_Precv_init(taken, 2, 2, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[RECEIVE_PARTS]);
    for (int round = 0; round < 3; round++) {
      MPI_Startall(KINDS, requests);
      bothParts(requests[SEND_PARTS]);
      for (int kind = 0; kind < KINDS; kind++) expect("the living", MPI_Wait(&requests[kind], MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  }
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &all);
  MPI_Start(&all);
  expect("a persistent allreduce", MPI_Wait(&all, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Grequest_start(query, release, cancel, NULL, &general);
  if (rank == 1) Sim_FT_kill_me();
  for (int kind = 0; rank == 0 && kind < KINDS; kind++) {
    MPI_Start(&requests[kind]);
    if (kind == SEND_PARTS) bothParts(requests[kind]);
    expect("the dead", MPI_Wait(&requests[kind], MPI_STATUS_IGNORE), MPI_ERR_PROC_FAILED);
    MPI_Request_free(&requests[kind]);
  }
  MPI_Start(&all);
  expect("a persistent allreduce with the dead", MPI_Wait(&all, MPI_STATUS_IGNORE), MPI_ERR_PROC_FAILED);
  MPI_Request_free(&all);
  MPI_Grequest_complete(general);
  expect("a generalised request", MPI_Wait(&general, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, survivors);
  printf("rank %d: %d left, %d wrong\n", rank, sum, wrong);
  MPI_Comm_free(&survivors);
  MPI_Finalize();
  return 0;
}
