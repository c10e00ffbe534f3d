/*
 * Every collective, with one rank whose counts are not those of the others: everybody returns, with MPI_SUCCESS or
 * MPI_ERR_TRUNCATE, somebody sees when more was sent than fits, and no byte behind a buffer changes.
 * Arguments: pairs of counts, the usual one and that of the one rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, REDUCE, ALLREDUCE, SCAN, EXSCAN,
  REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, KINDS };
enum { GUARD_BYTES = 64, GUARD = 0xa5 };

static const char *const names[] = { "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv",
  "Alltoall", "Alltoallv", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block", "Reduce_scatter" };
static int rank, size, errors;

static int is_exact(int kind) { return kind == BCAST || kind >= REDUCE; }

static int is_rooted(int kind) { return (kind >= GATHER && kind <= SCATTERV) || kind == BCAST || kind == REDUCE; }

/* Parts of the send buffer and of the receive buffer. */
static int sent_parts(int kind, int at_root) {
  if (kind == BCAST) return 1;
  if (kind == SCATTER || kind == SCATTERV) return at_root ? size : 0;
  return kind == ALLTOALL || kind == ALLTOALLV || kind >= REDUCE_SCATTER_BLOCK ? size : 1;
}

static int received_parts(int kind, int at_root) {
  if (kind == BCAST) return 0;
  if (kind == GATHER || kind == GATHERV) return at_root ? size : 0;
  if (kind == REDUCE) return at_root;
  return kind >= ALLGATHER && kind <= ALLTOALLV ? size : 1;
}

static void *buffer(size_t bytes) {
  unsigned char *at = malloc(bytes + GUARD_BYTES);
  memset(at, 1, bytes);
  memset(at + bytes, GUARD, GUARD_BYTES);
  return at;
}

static int is_whole(const unsigned char *at, size_t bytes) {
  for (int i = 0; i < GUARD_BYTES; i++)
    if (at[bytes + i] != GUARD) return 0;
  return 1;
}

#define CALL(NAME, ...) (blocking ? MPI_##NAME(__VA_ARGS__, MPI_COMM_WORLD) : MPI_I##NAME(__VA_ARGS__, MPI_COMM_WORLD, &request))
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IReduce_scatter MPI_Ireduce_scatter

static int call(int kind, int blocking, int root, void *from, int sends, void *to, int receives) {
  MPI_Request request = MPI_REQUEST_NULL;
  int out[64], out_at[64], in[64], in_at[64], code = 0;
  for (int i = 0; i < size; i++) {
    out[i] = sends;
    out_at[i] = i * sends;
    in[i] = receives;
    in_at[i] = i * receives;
  }
  switch (kind) {
  case BCAST: code = CALL(Bcast, from, sends, MPI_INT, root); break;
  case GATHER: code = CALL(Gather, from, sends, MPI_INT, to, receives, MPI_INT, root); break;
  case GATHERV: code = CALL(Gatherv, from, sends, MPI_INT, to, in, in_at, MPI_INT, root); break;
  case SCATTER: code = CALL(Scatter, from, sends, MPI_INT, to, receives, MPI_INT, root); break;
  case SCATTERV: code = CALL(Scatterv, from, out, out_at, MPI_INT, to, receives, MPI_INT, root); break;
  case ALLGATHER: code = CALL(Allgather, from, sends, MPI_INT, to, receives, MPI_INT); break;
  case ALLGATHERV: code = CALL(Allgatherv, from, sends, MPI_INT, to, in, in_at, MPI_INT); break;
  case ALLTOALL: code = CALL(Alltoall, from, sends, MPI_INT, to, receives, MPI_INT); break;
  case ALLTOALLV: code = CALL(Alltoallv, from, out, out_at, MPI_INT, to, in, in_at, MPI_INT); break;
  case REDUCE: code = CALL(Reduce, from, to, sends, MPI_INT, MPI_SUM, root); break;
  case ALLREDUCE: code = CALL(Allreduce, from, to, sends, MPI_INT, MPI_SUM); break;
  case SCAN: code = CALL(Scan, from, to, sends, MPI_INT, MPI_SUM); break;
  case EXSCAN: code = CALL(Exscan, from, to, sends, MPI_INT, MPI_SUM); break;
  case REDUCE_SCATTER_BLOCK: code = CALL(Reduce_scatter_block, from, to, sends, MPI_INT, MPI_SUM); break;
  case REDUCE_SCATTER: code = CALL(Reduce_scatter, from, to, out, MPI_INT, MPI_SUM); break;
  }
  return code != MPI_SUCCESS || blocking ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Is anybody sent more than fits, or anything else where lengths are exact? */
static int must_be_seen(int kind, int root, int usual, int odd, int sends, int receives) {
  if (is_exact(kind)) return size > 1 && sends != usual;
  for (int from = 0; from < size; from++)
    for (int to = 0; to < size; to++) {
      if (is_rooted(kind) && (kind == GATHER || kind == GATHERV ? to : from) != root) continue;
      if ((from == odd ? sends : usual) > (to == odd ? receives : usual)) return 1;
    }
  return 0;
}

static void attempt(int kind, int blocking, int usual, int odd, int odd_sends, int odd_receives) {
  const int root = size > 2;
  const int sends = rank == odd ? odd_sends : usual, receives = rank == odd ? odd_receives : usual;
  const size_t out = sizeof(int) * sends * sent_parts(kind, rank == root);
  const size_t in = sizeof(int) * receives * received_parts(kind, rank == root);
  void *from = buffer(out), *to = buffer(in);
  int code = call(kind, blocking, root, from, sends, to, receives), seen = code == MPI_ERR_TRUNCATE, anybody = 0;
  const char *wrong = NULL;
  if (code != MPI_SUCCESS && code != MPI_ERR_TRUNCATE) wrong = "another error";
  if (!is_whole(from, out) || !is_whole(to, in)) wrong = "bytes behind a buffer";
  /* By messages of our own: no collective is trusted here. */
  if (rank != 0) {
    MPI_Send(&seen, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(&anybody, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    anybody = seen;
    for (int i = 1; i < size; i++) {
      MPI_Recv(&seen, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      anybody |= seen;
    }
    for (int i = 1; i < size; i++) MPI_Send(&anybody, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
  }
  if (must_be_seen(kind, root, usual, odd, odd_sends, odd_receives) && !anybody) wrong = "nobody has seen it";
  if (odd_sends == usual && odd_receives == usual && code != MPI_SUCCESS) wrong = "an error where all is well";
  if (wrong) {
    errors++;
    fprintf(stderr, "rank %d: %s%s, %d elements but %d and %d at rank %d: %s (%d)\n", rank, blocking ? "MPI_" : "MPI_I",
      names[kind], usual, odd_sends, odd_receives, odd, wrong, code);
  }
  free(from);
  free(to);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int pair = 1; pair + 1 < argc; pair += 2) {
    const int usual = atoi(argv[pair]), other = atoi(argv[pair + 1]);
    for (int kind = 0; kind < KINDS; kind++) {
      /* Empty parts of an alltoallv are left out. */
      if (kind == ALLTOALLV && (usual == 0 || other == 0)) continue;
      for (int blocking = 0; blocking < 2; blocking++)
        for (int who = 0; who < 2; who++) {
          const int odd = who == 0 ? (size > 2) : size - 1;
          attempt(kind, blocking, usual, odd, other, other);
          if (!is_exact(kind)) {
            attempt(kind, blocking, usual, odd, other, usual);
            attempt(kind, blocking, usual, odd, usual, other);
          }
          attempt(kind, blocking, usual, odd, usual, usual);
        }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d errors on %d ranks\n", errors, size);
  MPI_Finalize();
  return 0;
}
