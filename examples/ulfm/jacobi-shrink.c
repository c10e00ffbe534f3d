/*
 * A Jacobi solver that goes on with fewer ranks when some are lost.
 *
 * It solves u'' = -2 on a line, u = 0 at both ends: u(x) = x (1 - x). A Jacobi iteration comes to that solution from wherever
 * it begins, so a part of the line that was lost with its rank begins again at zero and costs time, not the answer.
 *
 *   banyan run -n 8 --nodes 4 --protocol ulfm --faults "kill node 1 at 1s" examples/ulfm/jacobi-shrink.c
 */
#include <math.h>
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define POINTS 40 /* of the line, without its ends */
#define ROUNDS_PER_CHECK 50
static const double goal = 1e-8; /* the largest step of the last round */

static double u[POINTS + 2], next[POINTS + 2]; /* each rank has room for the whole line, and works on its own part */
static int first, last;                        /* the points of this rank: first to last - 1 */

/* An error ends the attempt: MPI_ERR_PROC_FAILED here, or MPI_ERR_REVOKED because another rank has met one. */
#define TRY(call) do { int code = (call); if (code != MPI_SUCCESS) return code; } while (0)

/* Every survivor has its old part. Parts that nobody has are zeros. Then the line is dealt out anew. */
static int deal_out(MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(next, 0, sizeof next);
    memcpy(next + first, u + first, (size_t)(last - first) * sizeof *u);
    TRY(MPI_Allreduce(next, u, POINTS + 2, MPI_DOUBLE, MPI_SUM, comm));
    first = 1 + POINTS * rank / size;
    last = 1 + POINTS * (rank + 1) / size;
    return MPI_SUCCESS;
}

static int solve(MPI_Comm comm) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    const double source = 2.0 / ((POINTS + 1.0) * (POINTS + 1.0));
    for (int round = 1;; round++) {
        TRY(MPI_Sendrecv(u + first, 1, MPI_DOUBLE, left, 0, u + last, 1, MPI_DOUBLE, right, 0, comm, MPI_STATUS_IGNORE));
        TRY(MPI_Sendrecv(u + last - 1, 1, MPI_DOUBLE, right, 1, u + first - 1, 1, MPI_DOUBLE, left, 1, comm,
                         MPI_STATUS_IGNORE));
        double step = 0;
        for (int i = first; i < last; i++) {
            next[i] = (u[i - 1] + u[i + 1] + source) / 2;
            step = fmax(step, fabs(next[i] - u[i]));
        }
        memcpy(u + first, next + first, (size_t)(last - first) * sizeof *u);
        if (round % ROUNDS_PER_CHECK != 0) continue;
        TRY(MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_DOUBLE, MPI_MAX, comm));
        if (step < goal) return MPI_SUCCESS;
    }
}

/* How far the whole line is from the solution, at every rank. */
static int measure(MPI_Comm comm, double *error) {
    *error = 0;
    for (int i = first; i < last; i++) {
        double x = i / (POINTS + 1.0);
        *error = fmax(*error, fabs(u[i] - x * (1 - x)));
    }
    return MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE, MPI_MAX, comm);
}

static int attempt(MPI_Comm comm, double *error) {
    TRY(deal_out(comm));
    TRY(solve(comm));
    return measure(comm, error);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* communicators that are made of it begin with the same */
    double error;
    for (;;) {
        int is_through = attempt(comm, &error) == MPI_SUCCESS;
        /* Ranks that wait for this one would wait for ever: their calls end as well. */
        if (!is_through) MPI_Comm_revoke(comm);
        /* Some may be through and others not. All go the same way: the flag is the same everywhere, whoever dies now. */
        MPI_Comm_agree(comm, &is_through);
        if (is_through) break;
        MPI_Comm survivors;
        MPI_Comm_shrink(comm, &survivors);
        if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
        comm = survivors;
    }
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0) {
        printf("largest error %.5f\n", error);
        fprintf(stderr, "%d ranks are left\n", size);
    }
    MPI_Finalize();
    return 0;
}
