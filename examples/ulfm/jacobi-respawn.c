/*
 * A Jacobi solver that replaces the lost and keeps its rank order. Every rank keeps a copy of another one's part in its memory (a buddy
 * checkpoint); a replacement gets its part from there, all others go back to their own copy of the same round. The answer is
 * the same, bit for bit, as without failures.
 *
 *   banyan run -n 4 --nodes 4 --protocol ulfm --faults "kill node 1 at 1s" examples/ulfm/jacobi-respawn.c
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 32 /* of each rank */
#define ROUNDS 2000
#define ROUNDS_PER_COPY 100

static int rank, size;
static double u[POINTS + 2], next[POINTS + 2];

/* Two copies, because a failure may come while ranks make the newer one: then the older one is whole at everybody's. */
static double own[2][POINTS], others[2][POINTS];
static int copied = -1; /* the newest copy that is whole; -1: none, this process is new */

#define TRY(call) do { int code = (call); if (code != MPI_SUCCESS) return code; } while (0)

/* Half the ranks away: ranks that are next to each other are often lost together, with their node. */
static int keeper_of(int r) { return (r + size / 2) % size; }
static int kept_by(int r) { return (r + size - size / 2) % size; }

static int copy(MPI_Comm comm, int number) {
    double *mine = own[number % 2], *theirs = others[number % 2];
    memcpy(mine, u + 1, sizeof own[0]);
    TRY(MPI_Sendrecv(mine, POINTS, MPI_DOUBLE, keeper_of(rank), 2, theirs, POINTS, MPI_DOUBLE, kept_by(rank), 2, comm,
                     MPI_STATUS_IGNORE));
    /* Who passes the barrier knows that all have begun this copy, so all have finished the one before. */
    TRY(MPI_Barrier(comm));
    copied = number;
    return MPI_SUCCESS;
}

/* The newest copy that everybody has who was here before; 0, the beginning, if a rank was lost together with its keeper. */
static int restore(MPI_Comm comm, int *number) {
    int *all = malloc(sizeof(int) * (size_t)size);
    int code = MPI_Allgather(&copied, 1, MPI_INT, all, 1, MPI_INT, comm);
    *number = -1;
    int is_lost = 0;
    for (int r = 0; r < size && code == MPI_SUCCESS; r++) {
        if (all[r] >= 0) *number = *number < 0 || all[r] < *number ? all[r] : *number;
        else if (all[keeper_of(r)] < 0) is_lost = 1;
    }
    int keeper = keeper_of(rank), kept = kept_by(rank), is_new = copied < 0, keeps_for_new = all[kept] < 0;
    free(all);
    if (code != MPI_SUCCESS) return code;
    memset(u, 0, sizeof u);
    if (is_lost || *number <= 0) {
        *number = 0;
        for (int i = 1; i <= POINTS; i++) u[i] = rank * POINTS + i;
    } else {
        if (keeps_for_new && !is_new)
            TRY(MPI_Send(others[*number % 2], POINTS, MPI_DOUBLE, kept, 3, comm));
        if (is_new) TRY(MPI_Recv(u + 1, POINTS, MPI_DOUBLE, keeper, 3, comm, MPI_STATUS_IGNORE));
        else memcpy(u + 1, own[*number % 2], sizeof own[0]);
    }
    return copy(comm, *number);
}

/* The sum of all points is a part of it: when all agree that they are through, all have the answer. */
static int solve(MPI_Comm comm, double *total) {
    int number;
    TRY(restore(comm, &number));
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int round = number * ROUNDS_PER_COPY; round < ROUNDS; round++) {
        if (round % ROUNDS_PER_COPY == 0 && round / ROUNDS_PER_COPY > copied)
            TRY(copy(comm, round / ROUNDS_PER_COPY));
        TRY(MPI_Sendrecv(u + 1, 1, MPI_DOUBLE, left, 0, u + POINTS + 1, 1, MPI_DOUBLE, right, 0, comm, MPI_STATUS_IGNORE));
        TRY(MPI_Sendrecv(u + POINTS, 1, MPI_DOUBLE, right, 1, u, 1, MPI_DOUBLE, left, 1, comm, MPI_STATUS_IGNORE));
        for (int i = 1; i <= POINTS; i++) next[i] = (u[i - 1] + u[i + 1]) / 2;
        memcpy(u + 1, next + 1, sizeof own[0]);
    }
    double sum = 0;
    for (int i = 1; i <= POINTS; i++) sum += u[i];
    return MPI_Allreduce(&sum, total, 1, MPI_DOUBLE, MPI_SUM, comm);
}

/* Everybody gets its old rank: of those who were there, and of the dead in their order for the new ones. `dead`: at rank 0. */
static int in_order(MPI_Comm all, int missing, const int *dead, int is_new, MPI_Comm *ordered) {
    int ranks[64], mine, me;
    if (dead != NULL) memcpy(ranks, dead, sizeof(int) * (size_t)missing);
    TRY(MPI_Bcast(ranks, missing, MPI_INT, 0, all));
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    mine = is_new ? ranks[me] : rank;
    TRY(MPI_Comm_split(all, 0, mine, ordered));
    MPI_Comm_rank(*ordered, &rank);
    MPI_Comm_size(*ordered, &size);
    return MPI_SUCCESS;
}

/* Which ranks of `broken` are not in `alive`, in their order. */
static void find_dead(MPI_Comm broken, MPI_Comm alive, int missing, int *dead) {
    MPI_Group all, living, gone;
    int places[64];
    for (int i = 0; i < missing; i++) places[i] = i;
    MPI_Comm_group(broken, &all);
    MPI_Comm_group(alive, &living);
    MPI_Group_difference(all, living, &gone);
    MPI_Group_translate_ranks(gone, missing, places, all, dead);
    MPI_Group_free(&all);
    MPI_Group_free(&living);
    MPI_Group_free(&gone);
}

/*
 * A survivor: the dead are replaced. Tried until it goes well at everybody's, with fewer survivors each time. Of the new processes some may
 * have the new communicator while survivors lack it: they go on only when the first survivor says that all have it.
 */
static MPI_Comm replace(MPI_Comm broken, char *program) {
    for (;;) {
        MPI_Comm alive, children = MPI_COMM_NULL, all = MPI_COMM_NULL, ordered = MPI_COMM_NULL;
        int left, dead[64];
        MPI_Comm_shrink(broken, &alive);
        MPI_Comm_size(alive, &left);
        int missing = size - left;
        find_dead(broken, alive, missing, dead);
        int code = MPI_Comm_spawn(program, MPI_ARGV_NULL, missing, MPI_INFO_NULL, 0, alive, &children, MPI_ERRCODES_IGNORE);
        if (code == MPI_SUCCESS) code = MPI_Intercomm_merge(children, 0, &all);
        if (code == MPI_SUCCESS) code = in_order(all, missing, dead, 0, &ordered);
        int is_good = code == MPI_SUCCESS;
        MPI_Comm_agree(alive, &is_good);
        int mine;
        MPI_Comm_rank(alive, &mine);
        for (int i = 0; is_good && mine == 0 && i < missing; i++) MPI_Send(&is_good, 1, MPI_INT, i, 4, children);
        /* New processes that a failed attempt has started find this out, and leave. */
        if (!is_good && children != MPI_COMM_NULL) MPI_Comm_revoke(children);
        if (!is_good && all != MPI_COMM_NULL) MPI_Comm_revoke(all);
        if (!is_good && ordered != MPI_COMM_NULL) MPI_Comm_revoke(ordered);
        MPI_Comm_free(&alive);
        if (is_good) return ordered;
    }
}

/*
 * A survivor's answer, whoever dies now: the first rank that lives prints it, before it agrees that all is done. If it dies in between the
 * next one prints the line again: it may come twice, and is never missing.
 */
static void print(MPI_Comm comm, double total) {
    int has_printed = 0;
    for (;;) {
        int mine, is_done = 1;
        MPI_Comm survivors;
        MPI_Comm_rank(comm, &mine);
        if (mine == 0 && !has_printed) {
            printf("sum %.15g on %d ranks\n", total, size);
            fflush(stdout);
            has_printed = 1;
        }
        if (MPI_Comm_agree(comm, &is_done) == MPI_SUCCESS) return;
        MPI_Comm_shrink(comm, &survivors);
        comm = survivors;
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm, parent;
    MPI_Comm_get_parent(&parent);
    /* Deaths may come at any call from here on, also before there is a communicator of our own. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (parent == MPI_COMM_NULL) {
        comm = MPI_COMM_WORLD;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        copied = 0; /* everybody knows the beginning */
        for (int i = 1; i <= POINTS; i++) own[0][i - 1] = rank * POINTS + i;
    } else {
        MPI_Comm all;
        int missing;
        MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
        MPI_Comm_size(MPI_COMM_WORLD, &missing);
        int code = MPI_Intercomm_merge(parent, 1, &all);
        if (code == MPI_SUCCESS) code = in_order(all, missing, NULL, 1, &comm);
        int is_good;
        if (code == MPI_SUCCESS) code = MPI_Recv(&is_good, 1, MPI_INT, 0, 4, parent, MPI_STATUS_IGNORE);
        /* Another failure: this process fails too, for all who may wait for it, and the survivors try again with others. */
        if (code != MPI_SUCCESS) exit(1);
    }
    double total = 0;
    for (;;) {
        int is_through = solve(comm, &total) == MPI_SUCCESS;
        if (!is_through) MPI_Comm_revoke(comm);
        MPI_Comm_agree(comm, &is_through);
        if (is_through) break;
        comm = replace(comm, argv[0]);
    }
    print(comm, total);
    MPI_Finalize();
    return 0;
}
