/*
 * What programs see of deaths, section by section of the Forum's chapter on process fault tolerance. The last ranks die, as many as the
 * first argument says: by a signal of their own ("signal"), or because a fault plan kills their node while they look at the clock
 * ("plan"). At least 6 ranks. Rank 0 prints a line for each section that is passed; others print what went wrong.
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, victims, living, errors;
static char *program;
static MPI_Comm world, friends, couples, doomed, half;
static MPI_File ours, theirs;

static void check(int holds, const char *what, int line) {
    if (holds) return;
    errors++;
    printf("rank %d, line %d: %s\n", rank, line, what);
    fflush(stdout);
}
#define CHECK(holds) check(holds, #holds, __LINE__)

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}
#define IS(class, call) CHECK(class_of(call) == class)

/* The end of a section, among the ranks that live. */
static void passed(const char *section) {
    int all;
    CHECK(MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, friends) == MPI_SUCCESS);
    if (rank == 0 && all == 0) printf("passed %s\n", section);
}

static int failed_in(MPI_Comm comm) {
    MPI_Group group;
    int count;
    MPI_Comm_get_failed(comm, &group);
    MPI_Group_size(group, &count);
    MPI_Group_free(&group);
    return count;
}

/* What is there before anybody dies. */
static void prepare(void) {
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_dup(MPI_COMM_WORLD, &doomed);
    MPI_Comm_split(world, rank < living, 0, &friends);
    MPI_Comm_split(world, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 5, &couples);
    MPI_File_open(world, "ulfm-theirs", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &theirs);
    if (rank < living)
        MPI_File_open(friends, "ulfm-ours", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &ours);
    MPI_Comm made[] = {world, doomed, half, couples, friends};
    for (int i = 0; i < 5; i++) MPI_Comm_set_errhandler(made[i], MPI_ERRORS_RETURN);
    /* A rank that is through knows that all have come, and may die: for others the barrier may fail. */
    MPI_Barrier(world);
}

static void die(int by_signal) {
    int value = 100 + rank;
    MPI_Send(&value, 1, MPI_INT, 0, 1, world);
    MPI_Barrier(friends);
    if (by_signal) raise(SIGKILL);
    for (;;) MPI_Wtime();
}

static void point_to_point(void) {
    int value = 0, victim = size - 1, next = (rank + 1) % living, before = (rank + living - 1) % living;
    MPI_Request request, other;
    if (rank == 0) {
        IS(MPI_ERR_PROC_FAILED, MPI_Recv(&value, 1, MPI_INT, victim, 2, world, MPI_STATUS_IGNORE));
        /* What a dead rank sent in life has arrived, or died with its node: nobody waits for it. */
        for (int v = living; v < size; v++) {
            int class = class_of(MPI_Recv(&value, 1, MPI_INT, v, 1, world, MPI_STATUS_IGNORE));
            CHECK((class == MPI_SUCCESS && value == 100 + v) || class == MPI_ERR_PROC_FAILED);
        }
        IS(MPI_ERR_PROC_FAILED, MPI_Recv(&value, 1, MPI_INT, victim, 1, world, MPI_STATUS_IGNORE));
        IS(MPI_ERR_PROC_FAILED, MPI_Send(&value, 1, MPI_INT, victim, 1, world));
        IS(MPI_ERR_PROC_FAILED, MPI_Ssend(&value, 1, MPI_INT, victim, 1, world));
        IS(MPI_ERR_PROC_FAILED, MPI_Probe(victim, 1, world, MPI_STATUS_IGNORE));
        CHECK(MPI_Irecv(&value, 1, MPI_INT, victim, 1, world, &request) == MPI_SUCCESS);
        IS(MPI_ERR_PROC_FAILED, MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(request == MPI_REQUEST_NULL);
        CHECK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, world) == MPI_SUCCESS);
    }
    passed("16.2.1 what names the dead raises PROC_FAILED");

    for (int i = 0; i < 20; i++) {
        int got = -1;
        CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, next, 3, &got, 1, MPI_INT, before, 3, world, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got == before);
    }
    passed("16.2.1 a failure is reported to those only who communicate with the dead");

    if (rank == 1) {
        while (failed_in(world) < victims) usleep(1000);
        CHECK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, world, &request) == MPI_SUCCESS);
        other = request;
        IS(MPI_ERR_PROC_FAILED_PENDING, MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(request == other);
        IS(MPI_ERR_PROC_FAILED, MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, MPI_STATUS_IGNORE));
        MPI_Group group;
        int count;
        CHECK(MPI_Comm_failure_get_acked(world, &group) == MPI_SUCCESS && group == MPI_GROUP_EMPTY);
        CHECK(MPI_Comm_ack_failed(world, size, &count) == MPI_SUCCESS && count == victims);
        CHECK(MPI_Send(&rank, 1, MPI_INT, 2, 4, world) == MPI_SUCCESS);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && value == 42 && request == MPI_REQUEST_NULL);
        CHECK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, world, &request) == MPI_SUCCESS);
        MPI_Cancel(&request);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    if (rank == 2) {
        int answer = 42;
        CHECK(MPI_Recv(&value, 1, MPI_INT, 1, 4, world, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Send(&answer, 1, MPI_INT, 1, 4, world) == MPI_SUCCESS);
    }
    passed("16.2.1 a receive from anybody is pending until the death is acknowledged, then it goes on");
}

static int handled;
static void handler(MPI_Comm *comm, int *code, ...) {
    handled += *comm == doomed && class_of(*code) == MPI_ERR_PROC_FAILED;
}

static void collectives(void) {
    int value = rank, all[64];
    MPI_Request request;
    MPI_Comm made = MPI_COMM_WORLD;
    IS(MPI_ERR_PROC_FAILED, MPI_Barrier(world));
    IS(MPI_ERR_PROC_FAILED, MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, world));
    CHECK(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, world, &request) == MPI_SUCCESS);
    IS(MPI_ERR_PROC_FAILED, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(MPI_Barrier(friends) == MPI_SUCCESS);
    passed("16.2.2 a collective that the dead were to take part in raises PROC_FAILED, others do not notice");

    IS(MPI_ERR_PROC_FAILED, MPI_Comm_dup(world, &made));
    CHECK(made == MPI_COMM_NULL);
    IS(MPI_ERR_PROC_FAILED, MPI_Comm_split(world, 0, 0, &made));
    CHECK(MPI_Comm_split(friends, 0, -rank, &made) == MPI_SUCCESS);
    CHECK(MPI_Barrier(made) == MPI_SUCCESS);
    MPI_Comm_free(&made);
    passed("16.2.3 no communicator can be made with the dead, and others can");

    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(doomed, own);
    IS(MPI_ERR_PROC_FAILED, MPI_Barrier(doomed));
    CHECK(handled == 1);
    MPI_Comm_set_errhandler(doomed, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&own);
    passed("16.2 an error handler of the communicator hears of it");
}

static void files(void) {
    int value = rank, got = -1;
    CHECK(MPI_File_write_at_all(ours, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all(ours, 4 * rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == rank);
    CHECK(MPI_File_write_at(theirs, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    IS(MPI_ERR_PROC_FAILED, MPI_File_set_size(theirs, 4096));
    CHECK(MPI_File_close(&ours) == MPI_SUCCESS);
    IS(MPI_ERR_PROC_FAILED, MPI_File_close(&theirs));
    passed("16.2.5 a file is affected by deaths of those who opened it only");
}

static void agreements(void) {
    MPI_Request request;
    int flag = 0x70 | 1 << rank % 4, count;
    /* Rank 1 has acknowledged, the others have not: everybody hears of it, and the flag is right all the same. */
    IS(MPI_ERR_PROC_FAILED, MPI_Comm_agree(world, &flag));
    CHECK(flag == 0x70);
    CHECK(MPI_Comm_failure_ack(world) == MPI_SUCCESS);
    flag = ~(1 << rank);
    CHECK(MPI_Comm_agree(world, &flag) == MPI_SUCCESS);
    CHECK(flag == -(1 << living));
    flag = -1;
    CHECK(MPI_Comm_iagree(world, &flag, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == -1);
    CHECK(MPI_Comm_ack_failed(world, 0, &count) == MPI_SUCCESS && count == victims);
    passed("16.3.1 agree: the flag is the same everywhere, and the error at everybody until all have acknowledged");
}

static void revocation(void) {
    int value = 0, flag = 0, one = 1, result;
    MPI_Request request;
    MPI_Comm smaller, later;
    MPI_Group group;
    if (rank == 3) CHECK(MPI_Comm_revoke(doomed) == MPI_SUCCESS);
    IS(MPI_ERR_REVOKED, MPI_Recv(&value, 1, MPI_INT, (rank + 1) % living, 9, doomed, MPI_STATUS_IGNORE));
    CHECK(MPI_Comm_is_revoked(doomed, &flag) == MPI_SUCCESS && flag);
    IS(MPI_ERR_REVOKED, MPI_Send(&value, 1, MPI_INT, size - 1, 9, doomed));
    IS(MPI_ERR_REVOKED, MPI_Barrier(doomed));
    IS(MPI_ERR_REVOKED, MPI_Comm_dup(doomed, &smaller));
    CHECK(MPI_Comm_size(doomed, &value) == MPI_SUCCESS && value == size);
    CHECK(MPI_Comm_compare(doomed, world, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    CHECK(MPI_Comm_group(doomed, &group) == MPI_SUCCESS && MPI_Group_free(&group) == MPI_SUCCESS);
    CHECK(MPI_Comm_failure_ack(doomed) == MPI_SUCCESS);
    CHECK(MPI_Comm_revoke(doomed) == MPI_SUCCESS);
    CHECK(MPI_Comm_agree(doomed, &one) == MPI_SUCCESS && one == 1);
    CHECK(MPI_Comm_shrink(doomed, &smaller) == MPI_SUCCESS);
    CHECK(MPI_Comm_size(smaller, &value) == MPI_SUCCESS && value == living);
    CHECK(MPI_Comm_ishrink(doomed, &later, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Barrier(later) == MPI_SUCCESS && MPI_Barrier(smaller) == MPI_SUCCESS && failed_in(smaller) == 0);
    MPI_Comm_free(&later);
    MPI_Comm_free(&smaller);
    CHECK(MPI_Comm_free(&doomed) == MPI_SUCCESS && doomed == MPI_COMM_NULL);
    passed("16.3.2 on a revoked communicator local calls, agree, shrink and free work, and nothing else");
}

static void two_sides(void) {
    int value = rank, got = -1, victim = size - 1, mine = (rank + (rank % 2 ? -1 : 1)) / 2;
    int partner = rank % 2 ? rank - 1 : rank + 1;
    MPI_Comm smaller;
    if (partner < living) {
        CHECK(MPI_Sendrecv(&value, 1, MPI_INT, mine, 6, &got, 1, MPI_INT, mine, 6, couples, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got == partner);
    }
    if (rank % 2 != victim % 2) IS(MPI_ERR_PROC_FAILED, MPI_Send(&value, 1, MPI_INT, victim / 2, 6, couples));
    IS(MPI_ERR_PROC_FAILED, MPI_Barrier(couples));
    CHECK(MPI_Comm_shrink(couples, &smaller) == MPI_SUCCESS);
    CHECK(MPI_Barrier(smaller) == MPI_SUCCESS);
    int here, there;
    MPI_Comm_size(smaller, &here);
    MPI_Comm_remote_size(smaller, &there);
    CHECK(here + there == living);
    MPI_Comm_free(&smaller);
    CHECK(MPI_Comm_free(&couples) == MPI_SUCCESS && MPI_Comm_disconnect(&half) == MPI_SUCCESS);
    passed("16.2 inter-communicators; free and disconnect with members that are dead");
}

/* The dead are replaced, and everybody has its old rank. */
static void replacement(void) {
    MPI_Comm alive, children, all, ordered;
    int new_rank, new_size, sum;
    IS(MPI_ERR_PROC_FAILED, MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, world, &children, MPI_ERRCODES_IGNORE));
    CHECK(MPI_Comm_shrink(world, &alive) == MPI_SUCCESS);
    CHECK(MPI_Comm_spawn(program, MPI_ARGV_NULL, victims, MPI_INFO_NULL, 0, alive, &children, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Intercomm_merge(children, 0, &all) == MPI_SUCCESS);
    CHECK(MPI_Comm_split(all, 0, rank, &ordered) == MPI_SUCCESS);
    MPI_Comm_rank(ordered, &new_rank);
    MPI_Comm_size(ordered, &new_size);
    CHECK(new_rank == rank && new_size == size);
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, ordered) == MPI_SUCCESS && sum == size * (size - 1) / 2);
    CHECK(failed_in(ordered) == 0);
    passed("11.8 a spawn with the dead raises PROC_FAILED; without them it replaces them");
}

static void replace(MPI_Comm parent) {
    MPI_Comm all, ordered;
    int sum, others;
    MPI_Comm_remote_size(parent, &others);
    MPI_Intercomm_merge(parent, 1, &all);
    rank += others;
    MPI_Comm_split(all, 0, rank, &ordered);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, ordered);
}

int main(int argc, char **argv) {
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        replace(parent);
        MPI_Finalize();
        return 0;
    }
    int *survives, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &survives, &flag);
    CHECK(flag && *survives == 1);
    victims = atoi(argv[1]);
    living = size - victims;
    prepare();
    if (rank >= living) die(strcmp(argv[2], "signal") == 0);
    point_to_point();
    collectives();
    files();
    agreements();
    revocation();
    two_sides();
    replacement();
    MPI_Finalize();
    remove("ulfm-theirs"); /* closing it failed, so nobody has deleted it */
    if (rank == 0) printf("finalized\n");
    return 0;
}
